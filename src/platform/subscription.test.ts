import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { AppError } from '../kernel/errors.ts';
import { createSubscription, type SubscriptionStream } from './subscription.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const { signal } = new AbortController();
const patience = { signal, timeoutMs: 3_000 };
const gone = new AppError('unavailable', 'fleet.refused', 'no');

function harness() {
  const clock = createFakeClock();
  const streams: (SubscriptionStream & { readonly params: string; stopped: boolean })[] = [];
  const missed: string[] = [];
  const subscription = createSubscription({
    clock,
    missed: (uri) => missed.push(uri),
    open(params, stream) {
      const opened = { ...stream, params, stopped: false };
      streams.push(opened);
      return () => {
        opened.stopped = true;
      };
    },
  });
  const code = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'ok',
      (error: AppError) => error.code,
    );
  return { clock, streams, missed, subscription, code };
}

describe('[TWOWAY-27] the one subscription of a connection', () => {
  test('is replaced once for all who ask at the same time, and the old one ends only then', async () => {
    const { streams, subscription } = harness();
    const first = subscription.add('a:1', patience);
    await turn();
    streams[0]?.acknowledged({});
    expect(await first).toMatchObject({ kind: 'result' });
    const more = [subscription.add('a:2', patience), subscription.add('a:3', patience)];
    await turn();
    expect(streams.map(({ params }) => params)).toEqual([
      '{"notifications":{"resourceSubscriptions":["a:1"]}}',
      '{"notifications":{"resourceSubscriptions":["a:1","a:2","a:3"]}}',
    ]);
    expect(streams[0]?.stopped).toBe(false);
    streams[1]?.acknowledged({ notifications: { resourceSubscriptions: ['a:1', 'a:3'] } });
    expect((await Promise.all(more)).map(({ kind }) => kind)).toEqual(['error', 'result']);
    expect(streams.map(({ stopped }) => stopped)).toEqual([true, false]);
  });

  test('that is not acknowledged in the time of a caller, or at all, changes nothing', async () => {
    const { clock, streams, subscription, code } = harness();
    const first = subscription.add('a:1', patience);
    await turn();
    streams[0]?.acknowledged({});
    await first;
    const hasty = code(subscription.add('a:2', { signal, timeoutMs: 100 }));
    const stop = new AbortController();
    const leaving = code(subscription.add('a:3', { signal: stop.signal, timeoutMs: 60_000 }));
    const patient = code(subscription.add('a:4', { signal, timeoutMs: 60_000 }));
    await turn();
    clock.advance(100);
    stop.abort();
    expect(await Promise.all([hasty, leaving])).toEqual(['fleet.timeout', 'fleet.cancelled']);
    clock.advance(10_000);
    expect(await patient).toBe('fleet.timeout');
    expect(streams.map(({ stopped }) => stopped)).toEqual([false, true]);
    expect(clock.pending()).toBe(0);
  });

  test('that the upstream ends is asked for again until it stands, and then everything counts as changed', async () => {
    const { clock, streams, missed, subscription } = harness();
    const first = subscription.add('a:1', patience);
    await turn();
    streams[0]?.acknowledged({});
    await first;
    streams[0]?.ended(gone);
    for (const at of [1, 2]) {
      clock.advance(5_000);
      await turn();
      if (at === 1) streams[1]?.ended(gone);
      await turn();
    }
    expect(streams).toHaveLength(3);
    expect(missed).toEqual([]);
    streams[2]?.acknowledged({});
    await turn();
    expect(missed).toEqual(['a:1']);
    streams[2]?.acknowledged({});
    expect(missed).toEqual(['a:1', 'a:1']);
    subscription.stop();
    expect(streams[2]?.stopped).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  test('is not kept for nothing', async () => {
    const { streams, subscription } = harness();
    const first = subscription.add('a:1', patience);
    await turn();
    streams[0]?.acknowledged({});
    await first;
    await subscription.remove('a:1');
    await subscription.remove('a:1');
    expect(streams.map(({ stopped }) => stopped)).toEqual([true]);
  });
});
