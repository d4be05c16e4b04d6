import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { UpstreamConnection, UpstreamEnd } from '../../kernel/ports.ts';
import { createAgentSessions } from './agent-sessions.ts';

const agentSessionIdleMs = 10 * 60_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function harness(capacity = 64) {
  const clock = createFakeClock();
  const opened: { closes: number; lose(): void }[] = [];
  const script: { open: () => void; close: () => Promise<void> } = { open: () => undefined, close: () => Promise.resolve() };
  /** Whom an idle session is not idle for: a key, and the number of a connection. */
  const busy = { listening: '', asking: 0 };
  const sessions = createAgentSessions({
    upstream: 'up',
    clock,
    capacity,
    idleStopMs: agentSessionIdleMs,
    listensOn: (key) => key === busy.listening,
    async open() {
      await Promise.resolve();
      script.open();
      const { promise: closed, resolve } = Promise.withResolvers<UpstreamEnd>();
      const end: UpstreamEnd = { code: null, signal: null, stderrTail: '' };
      const handle = { closes: 0, lose: () => resolve({ ...end, lost: 'forgotten' }) };
      const number = opened.push(handle);
      const connection: UpstreamConnection = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { n: opened.length },
        request: () => Promise.reject(new Error('not here')),
        subscribe: () => Promise.resolve({ kind: 'result', json: '{}', value: {} }),
        unsubscribe: () => Promise.resolve({ kind: 'result', json: '{}', value: {} }),
        notify: () => undefined,
        onNotification: () => undefined,
        asking: () => number === busy.asking,
        closed,
        async close() {
          handle.closes += 1;
          await script.close();
          resolve(end);
        },
      };
      return connection;
    },
  });
  const use = (session: string, ms = 0): Promise<unknown> =>
    sessions.use(session, undefined, async (own) => {
      const { serverInfo } = await own;
      if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
      return serverInfo['n'];
    });
  return { clock, opened, script, busy, sessions, use };
}

describe('[HTTPUP-12] the upstream sessions of agent sessions', () => {
  test('are opened once for all calls of one, and again after the upstream forgot it', async () => {
    const { opened, sessions, use } = harness();
    expect(await Promise.all([use('a'), use('a'), use('b')])).toEqual([1, 1, 2]);
    opened[0]?.lose();
    await turn();
    expect(sessions.count()).toBe(1);
    expect(await use('a')).toBe(3);
    expect(opened[0]?.closes).toBe(0);
  });

  test('are closed after ten minutes without a call, never with one in flight', async () => {
    const { clock, opened, sessions, use } = harness();
    await use('idle');
    const working = use('busy', agentSessionIdleMs * 3);
    await turn();
    clock.advance(agentSessionIdleMs - 1);
    expect(sessions.count()).toBe(2);
    clock.advance(60_001);
    expect(sessions.count()).toBe(1);
    await turn();
    expect(opened.map(({ closes }) => closes)).toEqual([1, 0]);
    clock.advance(agentSessionIdleMs * 2);
    await working;
    expect(opened[1]?.closes).toBe(0);
    clock.advance(agentSessionIdleMs + 60_001);
    await turn();
    expect(opened[1]?.closes).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  test('whose opening fails leave no trace, and the next call tries again', async () => {
    const { script, sessions, use } = harness();
    script.open = () => {
      throw new AppError('unavailable', 'fleet.start_failed', 'no');
    };
    await expect(use('a')).rejects.toMatchObject({ code: 'fleet.start_failed' });
    expect(sessions.count()).toBe(0);
    script.open = () => undefined;
    expect(await use('a')).toBe(1);
  });

  test('that ended while being opened are closed when they are open', async () => {
    const { opened, sessions, use } = harness();
    const using = use('a');
    sessions.end('a');
    expect(sessions.count()).toBe(0);
    await using;
    await turn();
    expect(opened[0]?.closes).toBe(1);
    await sessions.close();
  });

  test('[HTTPUP-13] have a capacity, which frees itself when sessions idle', async () => {
    const { clock, use } = harness(2);
    await use('a');
    await use('b');
    await expect(use('c')).rejects.toMatchObject({ code: 'fleet.overloaded', retryAfterMs: agentSessionIdleMs });
    clock.advance(agentSessionIdleMs + 60_000);
    expect(await use('c')).toBe(3);
  });

  test('[SHARE-4] that were ended keep their place until they are gone, and whoever comes meanwhile waits for it', async () => {
    const { opened, script, sessions, use } = harness(1);
    await use('a');
    const { promise, resolve } = Promise.withResolvers<void>();
    script.close = () => promise;
    sessions.end('a');
    const coming = use('b');
    await turn();
    expect(opened).toHaveLength(1);
    resolve();
    expect(await coming).toBe(2);
  });

  test('[SHARE-4] are not closed while somebody listens on them or is asked', async () => {
    const { clock, busy, sessions, use } = harness();
    for (const key of ['idle', 'listening', 'asked']) await use(key);
    busy.listening = 'listening';
    busy.asking = 3;
    clock.advance(agentSessionIdleMs + 60_001);
    expect(['idle', 'listening', 'asked'].map((key) => sessions.live(key) !== undefined)).toEqual([false, true, true]);
    busy.listening = '';
    busy.asking = 0;
    clock.advance(60_000);
    expect(sessions.count()).toBe(0);
    await turn();
    expect(clock.pending()).toBe(0);
  });

  test('thirty thousand of them, opened and ended, leave nothing behind', async () => {
    const { clock, opened, sessions, use } = harness(4);
    for (let at = 0; at < 30_000; at += 1) {
      await use(`s${at}`);
      sessions.end(`s${at}`);
    }
    await sessions.close();
    expect(sessions.count()).toBe(0);
    expect(opened.every(({ closes }) => closes === 1)).toBe(true);
    expect(clock.pending()).toBe(0);
  });
});
