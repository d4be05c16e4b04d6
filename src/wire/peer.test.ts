import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { createPeer, garbageBound } from './peer.ts';
import { withProgressToken } from './progress-token.ts';

function harness() {
  const clock = createFakeClock();
  const sent: JsonObject[] = [];
  const notes: string[] = [];
  const broken: AppError[] = [];
  const peer = createPeer({
    clock,
    send: (line) => sent.push(JSON.parse(line) as JsonObject),
    onNotification: (method) => notes.push(method),
    onBroken: (error) => broken.push(error),
  });
  const ask = (onProgress?: (note: JsonObject) => void, signal = new AbortController().signal, timeoutMs = 1_000) =>
    peer.request('tools/call', '{"name":"t","arguments":{}}', {
      signal,
      timeoutMs,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  const code = (promise: Promise<unknown>) => promise.then(String, (error: AppError) => error.code);
  return { clock, sent, notes, broken, peer, ask, code };
}

describe('the peer of an upstream', () => {
  test('[DOOR-5] progress reaches its caller in order and before the result, also when all arrive at once', async () => {
    const { peer, ask } = harness();
    const seen: unknown[] = [];
    const done = ask((note) => seen.push(note)).then(() => seen.push('result'));
    peer.receive('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"x":[1]}}');
    peer.receive('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}');
    expect(seen).toEqual([{ progress: 1, x: [1] }, { progress: 2 }]);
    peer.receive('{"jsonrpc":"2.0","id":1,"result":{}}');
    await done;
    peer.receive('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":3}}');
    expect(seen).toHaveLength(3);
    expect(peer.counts().strayProgress).toBe(1);
  });

  test('answers find their requests whatever their order, and late ones are dropped and counted', async () => {
    const { peer, ask } = harness();
    const [first, second] = [ask(), ask()];
    peer.receive('{"jsonrpc":"2.0","id":2,"result":{"n":2.0}}');
    peer.receive('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}');
    expect(await second).toEqual({ kind: 'result', json: '{"n":2.0}', value: { n: 2 } });
    expect(await first).toEqual({ kind: 'error', json: '{"code":-32602,"message":"no"}', code: -32602 });
    peer.receive('{"jsonrpc":"2.0","id":2,"result":{}}');
    peer.receive('{"jsonrpc":"2.0","id":"2","result":{}}');
    expect(peer.counts().late).toBe(2);
  });

  test('one request that waits long keeps its own id and answer while hundreds come and go, and no id is used twice', async () => {
    const { peer, ask, sent } = harness();
    const first = ask();
    for (let round = 0; round < 300; round += 1) {
      const asked = ask();
      peer.receive(`{"jsonrpc":"2.0","id":${Number(sent.at(-1)?.['id'])},"result":{"round":${round}}}`);
      expect(await asked).toMatchObject({ value: { round } });
    }
    expect(new Set(sent.map(({ id }) => id)).size).toBe(301);
    peer.receive('{"jsonrpc":"2.0","id":1,"result":{"first":true}}');
    expect(await first).toMatchObject({ value: { first: true } });
    expect(peer.counts().late).toBe(0);
  });

  const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}';

  test('[FLEET-12] [CASE-7] progress begins the time of a call anew, and silence after it ends the call', async () => {
    const { peer, clock, ask, sent, code } = harness();
    const slow = code(ask(() => undefined));
    const quick = ask(undefined, undefined, 50_000);
    for (let at = 0; at < 5; at += 1) {
      clock.advance(900);
      peer.receive(progress);
    }
    clock.advance(999);
    expect(sent).toHaveLength(2);
    clock.advance(1);
    expect(await slow).toBe('fleet.timeout');
    expect(sent[2]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    peer.receive('{"jsonrpc":"2.0","id":2,"result":{}}');
    expect((await quick).kind).toBe('result');
  });

  test('[FLEET-12] [CASE-7] progress without end ends at ten times the time, and the upstream is told under its own id', async () => {
    const { peer, clock, ask, sent } = harness();
    const slow = ask(() => undefined);
    for (let at = 0; at < 99; at += 1) {
      clock.advance(100);
      peer.receive(progress);
    }
    expect(sent).toHaveLength(1);
    clock.advance(100);
    await expect(slow).rejects.toMatchObject({
      code: 'fleet.timeout',
      message: expect.stringContaining('within 10000 ms') as string,
    });
    expect(sent[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(clock.pending()).toBe(0);
  });

  test('[CASE-7] a call that is not asked for progress is not kept alive by any', async () => {
    const { peer, clock, ask, code } = harness();
    const slow = code(ask());
    clock.advance(900);
    peer.receive(progress);
    clock.advance(100);
    expect(await slow).toBe('fleet.timeout');
  });

  test('deadlines of any order are kept with one timer', async () => {
    const { clock, ask, code } = harness();
    const ends: string[] = [];
    for (const timeoutMs of [300, 100, 200, 100])
      void code(ask(undefined, undefined, timeoutMs)).then(() => ends.push(`${timeoutMs}`));
    expect(clock.pending()).toBe(1);
    for (let at = 0; at < 30; at += 1) {
      clock.advance(10);
      await Promise.resolve();
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toEqual(['100', '100', '200', '300']);
    expect(clock.pending()).toBe(0);
  });

  test('[DOOR-6] an abort cancels upstream once and leaves no listener behind', async () => {
    const { peer, ask, sent, code } = harness();
    const controller = new AbortController();
    const cancelled = code(ask(undefined, controller.signal));
    const kept = ask();
    controller.abort();
    expect(await cancelled).toBe('fleet.cancelled');
    expect(sent[2]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    peer.receive('{"jsonrpc":"2.0","id":2,"result":{}}');
    await kept;
    const before = await ask(undefined, controller.signal).catch((error: AppError) => error);
    expect(before).toMatchObject({ code: 'fleet.cancelled', data: { sent: false } });
    expect(sent).toHaveLength(3);
  });

  test('the upstream’s pings are answered under its own id, its other questions refused', () => {
    const { peer, sent } = harness();
    peer.receive('{"jsonrpc":"2.0","id":"p-1","method":"ping"}');
    peer.receive('{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}}');
    expect(sent).toMatchObject([
      { id: 'p-1', result: {} },
      { id: 5, error: { code: -32601 } },
    ]);
  });

  test('garbage is tolerated up to a bound per window, then everything in flight fails', async () => {
    const { peer, clock, ask, broken, code } = harness();
    const call = code(ask(undefined, undefined, 60_000));
    for (let line = 0; line < garbageBound.lines; line += 1) peer.receive('Listening…');
    clock.advance(garbageBound.perMs + 1);
    for (let line = 0; line < garbageBound.lines; line += 1) peer.receive('{"jsonrpc":"2.0"}');
    expect(broken).toHaveLength(0);
    peer.dropped();
    expect(broken).toHaveLength(1);
    expect(await call).toBe('fleet.protocol');
    expect(await code(ask())).toBe('fleet.protocol');
  });

  test('an answer that is none fails its call at once', async () => {
    const { peer, ask, code } = harness();
    const call = code(ask());
    peer.receive('{"jsonrpc":"2.0","id":1,"result":"text"}');
    expect(await call).toBe('fleet.protocol');
  });

  test('a batch is handled message by message', async () => {
    const { peer, ask, notes } = harness();
    const call = ask();
    peer.receive('[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},{"jsonrpc":"2.0","id":1,"result":{}}]');
    expect(notes).toEqual(['notifications/tools/list_changed']);
    expect((await call).kind).toBe('result');
  });
});

describe('the progress token', () => {
  test.each([
    [undefined, '{"_meta":{"progressToken":9}}'],
    ['{}', '{"_meta":{"progressToken":9}}'],
    ['{"a":1.0}', '{"_meta":{"progressToken":9},"a":1.0}'],
    ['{"a":"x_meta"}', '{"a":"x_meta","_meta":{"progressToken":9}}'],
    ['{"_meta":{"k":1},"a":1}', '{"_meta":{"k":1,"progressToken":9},"a":1}'],
    [String.raw`{"\u005fmeta":{"k":1}}`, '{"_meta":{"k":1,"progressToken":9}}'],
  ])('joins %s', (params, expected) => {
    expect(withProgressToken(params, 9)).toBe(expected);
  });
});
