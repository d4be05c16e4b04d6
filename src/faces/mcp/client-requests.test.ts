// What becomes of requests to a client that time, silence and slow readers have a part in.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { AppError } from '../../kernel/errors.ts';
import { createEntropy } from '../../platform/crypto.ts';
import { createClientRequests, maxAsks, streamWaitMs, type AskHome } from './client-requests.ts';
import type { NoticeStream, ReplySlot } from './in-flight.ts';
import { listenOn, nothingMissed } from './session-messages.ts';

interface Sent {
  readonly id: string;
  readonly method: string;
}

function make() {
  const clock = createFakeClock();
  const requests = createClientRequests({ clock, entropy: createEntropy() });
  const session: AskHome = { calls: new Map(), asks: new Map(), stream: undefined, missed: nothingMissed, over: false };
  const host = requests.hostOf(session, { capabilities: {}, info: undefined });
  const ask = (signal = new AbortController().signal): Promise<string> =>
    host.ask({ method: 'ping', params: undefined, signal }).then(
      ({ kind }) => kind,
      (error: unknown) => (error as AppError).code,
    );
  return { clock, requests, session, host, ask };
}

/** `behind`: the client does not read. */
function fakeStream(behind = false): NoticeStream & { readonly sent: Sent[]; behind: boolean } {
  const sent: Sent[] = [];
  return {
    sent,
    behind,
    send: (message) => void sent.push(JSON.parse(message) as Sent),
    offer(message) {
      if (this.behind) return false;
      this.send(message);
      return true;
    },
    keepAlive: () => undefined,
    end: () => undefined,
  };
}

interface FakeCall {
  readonly streams: boolean;
  readonly reads?: boolean;
  readonly to?: NoticeStream;
}

function onCall(session: AskHome, { streams, reads = true, to }: FakeCall): string[] {
  const sent: string[] = [];
  const slot: ReplySlot = {
    streams,
    notice(message) {
      if (!streams || !reads) return false;
      to?.send(message);
      sent.push(message);
      return true;
    },
    keepAlive: () => undefined,
    answer: () => undefined,
    abandon: () => undefined,
  };
  const id = session.calls.size;
  session.calls.set(id, { id, progressToken: undefined, abort: new AbortController(), slot });
  return sent;
}

test('[TWOWAY-2] without any stream it is over after the wait, and not before', async () => {
  const { clock, ask, session } = make();
  let outcome: string | undefined;
  const asked = ask().then((code) => (outcome = code));
  clock.advance(streamWaitMs - 1);
  await Promise.resolve();
  expect([outcome, session.asks.size]).toEqual([undefined, 1]);
  clock.advance(1);
  await asked;
  expect(outcome).toBe('host.gone');
  expect(session.asks.size).toBe(0);
});

test('[TWOWAY-2] a client that does not read its streams is nobody to ask', async () => {
  const { clock, ask, session } = make();
  onCall(session, { streams: true, reads: false });
  session.stream = fakeStream(true);
  const asked = ask();
  clock.advance(streamWaitMs);
  expect(await asked).toBe('host.gone');
});

test('[TWOWAY-2] once a stream carried it, it waits as long as it takes', async () => {
  const { clock, ask, session, requests } = make();
  const stream = fakeStream();
  const asked = ask();
  listenOn(session, stream);
  requests.flush(session);
  expect(clock.pending()).toBe(0);
  clock.advance(3_600_000);
  requests.answered(session, stream.sent[0]!.id, `{"jsonrpc":"2.0","id":"${stream.sent[0]!.id}","result":{}}`);
  expect(await asked).toBe('result');
});

test('[TWOWAY-2] a call that cannot stream is passed over, one whose client is behind as well', async () => {
  const { ask, session } = make();
  const streaming = onCall(session, { streams: true });
  const plain = onCall(session, { streams: false });
  void ask();
  expect([streaming.length, plain.length]).toEqual([1, 0]);
  onCall(session, { streams: true, reads: false });
  const stream = fakeStream();
  session.stream = stream;
  void ask();
  expect([streaming.length, stream.sent.length]).toEqual([1, 1]);
});

test('[TWOWAY-4] what never left cannot be answered, reported on or spoiled, and taking it back tells nobody', async () => {
  const { clock, ask, session, requests } = make();
  const abort = new AbortController();
  const asked = ask(abort.signal);
  const [id] = [...session.asks.keys()];
  requests.answered(session, id!, `{"jsonrpc":"2.0","id":"${id}","result":{}}`);
  requests.spoiled(session, `{"jsonrpc":"2.0","id":"${id}","result":1}`, 'why');
  requests.progressed(session, id!, { progress: 1 });
  requests.givenUp(session, id!);
  expect(session.asks.size).toBe(1);
  abort.abort();
  expect(await asked).toBe('fleet.cancelled');
  const stream = fakeStream();
  listenOn(session, stream);
  requests.flush(session);
  expect([stream.sent, clock.pending()]).toEqual([[], 0]);
});

test('[TWOWAY-5] the end of the session ends the waiting too, and its timers', async () => {
  const { clock, ask, session, requests, host } = make();
  const asked = Array.from({ length: maxAsks }, () => ask());
  requests.end(session);
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['host.gone']));
  expect([session.asks.size, clock.pending()]).toEqual([0, 0]);
  host.notify('notifications/resources/updated', '{"uri":"a:b"}');
  expect(session.missed).toBe(nothingMissed);
});

test('[TWOWAY-4] an aborted signal and a listener that is gone leave nothing at the signal', async () => {
  const { session, requests, ask } = make();
  const abort = new AbortController();
  const added: string[] = [];
  const removed: string[] = [];
  const { signal } = abort;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (added.push(args[0]), add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (removed.push(args[0]), remove(...args));
  const stream = fakeStream();
  session.stream = stream;
  const asked = Array.from({ length: 20 }, () => ask(signal));
  for (const { id } of stream.sent) requests.answered(session, id, `{"jsonrpc":"2.0","id":"${id}","result":{}}`);
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['result']));
  expect([added.length, removed.length]).toEqual([20, 20]);
  abort.abort();
  expect(stream.sent).toHaveLength(20);
  expect(await ask(signal)).toBe('fleet.cancelled');
});

test('[TWOWAY-7] a batch that was refused fails every answer in it', async () => {
  const { session, requests, ask } = make();
  const stream = fakeStream();
  session.stream = stream;
  const asked = [ask(), ask(), ask()];
  const [one, two, three] = stream.sent.map(({ id }) => id);
  requests.spoiled(
    session,
    `[{"jsonrpc":"2.0","id":"${one}","result":{"a":1,"a":2}},{"jsonrpc":"2.0","id":"${two}","error":1}]`,
    'why',
  );
  expect(await Promise.all(asked.slice(0, 2))).toEqual(['host.no_answer', 'host.no_answer']);
  requests.answered(session, three!, `{"jsonrpc":"2.0","id":"${three}","result":{}}`);
  expect(await asked[2]).toBe('result');
});

test('[TWOWAY-10] logs to a client that is behind are lost, and its stream is not cut for them', () => {
  const { session, host } = make();
  const stream = fakeStream(true);
  session.stream = stream;
  host.notify('notifications/message', '{}');
  expect(stream.sent).toEqual([]);
  host.notify('notifications/resources/updated', '{"uri":"a:b"}');
  expect(stream.sent).toMatchObject([{ method: 'notifications/resources/updated' }]);
});

test('[TWOWAY-2] [TWOWAY-4] [TWOWAY-5] in whatever order things happen, every request has exactly one outcome and nothing stays behind', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom('ask' as const, 'listen' as const, 'hang up' as const, 'call' as const, 'over' as const) }),
    fc.record({ do: fc.constantFrom('answer' as const, 'abort' as const, 'spoil' as const), at: fc.nat(20) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(2 * streamWaitMs) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, requests, session, ask } = make();
      const outcomes: string[][] = [];
      const aborts: AbortController[] = [];
      const carried: Sent[][] = [];
      const sent = (): Sent[] => carried.flat().filter(({ method }) => method === 'ping');
      for (const one of steps) {
        if (one.do === 'ask') {
          const abort = new AbortController();
          const seen: string[] = [];
          outcomes.push(seen);
          aborts.push(abort);
          void ask(abort.signal).then((outcome) => seen.push(outcome));
        } else if (one.do === 'listen' || one.do === 'call') {
          const stream = fakeStream();
          carried.push(stream.sent);
          if (one.do === 'listen') listenOn(session, stream);
          else onCall(session, { streams: true, to: stream });
          requests.flush(session);
        } else if (one.do === 'hang up') {
          session.stream = undefined;
          session.calls.clear();
        } else if (one.do === 'over') requests.end(session);
        else if (one.do === 'wait') clock.advance(one.ms);
        else if (one.do === 'abort') aborts[one.at]?.abort();
        else if ('at' in one) {
          const id = sent()[one.at]?.id ?? 'none';
          const text = `{"jsonrpc":"2.0","id":"${id}","result":{}}`;
          if (one.do === 'answer') requests.answered(session, id, text);
          else requests.spoiled(session, text, 'why');
        }
      }
      expect(session.asks.size).toBeLessThanOrEqual(maxAsks);
      requests.end(session);
      await new Promise((resolve) => setImmediate(resolve));
      expect(outcomes.map(({ length }) => length)).toEqual(outcomes.map(() => 1));
      expect(new Set(sent().map(({ id }) => id)).size).toBe(sent().length);
      expect([session.asks.size, clock.pending()]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
