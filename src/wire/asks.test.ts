import { describe, expect, test } from 'vitest';
import { askedClient, resultOf } from '../../test/support/asked-client.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { ClientHost, HostRequest } from '../kernel/client-host.ts';
import { AppError } from '../kernel/errors.ts';
import type { UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';
import { longestAskMs, mostAsks } from './asks.ts';
import { createPeer } from './peer.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = (): Promise<UpstreamReply> => new Promise(() => undefined);

function harness(host?: ClientHost) {
  const clock = createFakeClock();
  const sent: string[] = [];
  const told: [string, string | undefined][] = [];
  const peer = createPeer({
    clock,
    host,
    send: (line) => void sent.push(line),
    onNotification: (method, _params, text) => void told.push([method, text]),
    onBroken: () => undefined,
  });
  const call = (by?: ClientHost, more: Partial<UpstreamRequestOptions> & { method?: string } = {}): Promise<string> => {
    const { method = 'tools/call', ...rest } = more;
    const options = { signal: new AbortController().signal, timeoutMs: 1_000, ...(by === undefined ? {} : { host: by }), ...rest };
    return peer.request(method, '{}', options).then(
      ({ kind }) => kind,
      (error: AppError) => error.code,
    );
  };
  const ask = (id: unknown = 'q', method = 'sampling/createMessage', params = '{}', via?: number): void =>
    peer.receive(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}","params":${params}}`, via);
  const answers = (): string[] => sent.filter((line) => !/"method":"(?:tools|prompts)/.test(line));
  return { clock, sent, told, peer, call, ask, answers };
}

describe('[TWOWAY-20] what an upstream asks', () => {
  test('goes to the client of the call on whose stream it came, whoever else calls', async () => {
    const [a, b] = [askedClient('a'), askedClient('b')];
    const { call, ask, answers } = harness(askedClient('opener'));
    void call(a);
    void call(b);
    ask(1, 'sampling/createMessage', '{}', 2);
    await turn();
    expect(answers()).toEqual(['{"jsonrpc":"2.0","id":1,"result":{"by":"b"}}']);
    expect(a.asked).toEqual([]);
  });

  test('goes to the client that all calls in flight share, whatever the gateway asks meanwhile', async () => {
    const a = askedClient('a');
    const { call, ask, answers } = harness(askedClient('opener'));
    void call(a);
    void call(undefined, { method: 'tools/list' });
    void call(a, { method: 'prompts/get' });
    ask();
    await turn();
    expect(answers()[0]).toContain('{"by":"a"}');
  });

  test('goes to the client of the connection when nobody calls', async () => {
    const { ask, answers } = harness(askedClient('opener'));
    ask();
    await turn();
    expect(answers()[0]).toContain('{"by":"opener"}');
  });

  test.each(['another client', 'a call without a client'])('is refused while %s calls as well', async (other) => {
    const [opener, a, b] = [askedClient('opener'), askedClient('a'), askedClient('b')];
    const { call, ask, answers } = harness(opener);
    void call(a);
    void call(other === 'another client' ? b : undefined);
    ask();
    await turn();
    expect(answers()).toEqual([
      '{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"sampling/createMessage is refused: it cannot be told whose call this is about."}}',
    ]);
    expect([...opener.asked, ...a.asked, ...b.asked]).toEqual([]);
  });

  test('is refused where the upstream was told of nobody, but for its pings', async () => {
    const a = askedClient('a');
    const { call, ask, answers } = harness();
    void call(a);
    ask();
    ask('p', 'ping');
    await turn();
    expect(answers()).toEqual([
      '{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"Method not found: sampling/createMessage"}}',
      '{"jsonrpc":"2.0","id":"p","result":{}}',
    ]);
    expect(a.asked).toEqual([]);
  });

  test('on the stream of a call that is over is not taken for one of another client', async () => {
    const [opener, a, b] = [askedClient('opener'), askedClient('a'), askedClient('b')];
    const { peer, call, ask } = harness(opener);
    void call(a);
    void call(b);
    peer.receive('{"jsonrpc":"2.0","id":1,"result":{}}', 1);
    ask('q', 'roots/list', '{}', 1);
    await turn();
    expect([b.asked.length, opener.asked.length]).toEqual([0, 1]);
  });
});

describe('[TWOWAY-21] the client', () => {
  test('is asked with the bytes of the upstream, and the upstream answered with those of the client', async () => {
    const a = askedClient('a');
    a.answer = () => Promise.resolve(resultOf('{ "n":1.0,"x":[ ] }'));
    const { ask, answers } = harness(a);
    ask(7, 'elicitation/create', '{ "message":"h\\u00e9","n":2.50 }');
    await turn();
    expect(a.asked[0]).toMatchObject({ method: 'elicitation/create', params: '{ "message":"h\\u00e9","n":2.50 }' });
    expect(answers()).toEqual(['{"jsonrpc":"2.0","id":7,"result":{ "n":1.0,"x":[ ] }}']);
  });

  test('reports progress under the upstream’s own token, which it does not see', async () => {
    const a = askedClient('a');
    const { promise, resolve } = Promise.withResolvers<UpstreamReply>();
    a.answer = () => promise;
    const { ask, answers } = harness(a);
    ask('q', 'vendor/ask', '{"_meta":{"k":1.0,"progressToken":"t-1"},"z":1}');
    const [asked] = a.asked;
    expect(asked?.params).toBe('{"_meta":{"k":1.0},"z":1}');
    asked?.onProgress?.({ progress: 1 });
    resolve(resultOf('{}'));
    await turn();
    asked?.onProgress?.({ progress: 2 });
    expect(answers()).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"t-1"}}',
      '{"jsonrpc":"2.0","id":"q","result":{}}',
    ]);
  });

  test.each([
    [
      (): Promise<UpstreamReply> => Promise.resolve({ kind: 'error', code: -1, json: '{"code":-1,"message":"no","data":{ }}' }),
      '{"code":-1,"message":"no","data":{ }}',
    ],
    [
      (): Promise<UpstreamReply> => Promise.reject(new AppError('unavailable', 'host.gone', 'The session is over.')),
      '{"code":-32603,"message":"The session is over."}',
    ],
    [
      (): Promise<UpstreamReply> => Promise.reject(new Error('/secret/path')),
      '{"code":-32603,"message":"The client could not be asked."}',
    ],
  ])('may refuse or be gone, and the upstream is told (%#)', async (answer, error) => {
    const a = askedClient('a');
    a.answer = answer;
    const { ask, answers } = harness(a);
    ask();
    await turn();
    expect(answers()).toEqual([`{"jsonrpc":"2.0","id":"q","error":${error}}`]);
  });
});

describe('[TWOWAY-22] what was asked is over', () => {
  function open(a = askedClient('a')) {
    a.answer = never;
    return { a, ...harness(a) };
  }
  const aborted = (request: HostRequest | undefined): boolean | undefined => request?.signal.aborted;

  test('when the upstream takes it back, and then wants no answer', async () => {
    const { a, peer, ask, answers } = open();
    ask(1.5);
    ask('2');
    peer.receive('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}');
    await turn();
    expect(a.asked.map(aborted)).toEqual([true, false]);
    expect(answers()).toEqual([]);
    expect(peer.asking()).toBe(true);
  });

  test('when the call it is for is cancelled or past its time, and not when that is answered', async () => {
    const { a, clock, peer, call, ask, answers } = open();
    const stop = new AbortController();
    const calling = call(a, { signal: stop.signal });
    ask('cancelled', 'roots/list', '{}', 1);
    stop.abort();
    expect(await calling).toBe('fleet.cancelled');
    const answered = call(a);
    ask('answered', 'roots/list', '{}', 2);
    peer.receive('{"jsonrpc":"2.0","id":2,"result":{}}');
    expect(await answered).toBe('result');
    await turn();
    expect(a.asked.map(aborted)).toEqual([true, false]);
    expect(answers().at(-1)).toContain('Nobody answered in time.');
    clock.advance(longestAskMs);
    await turn();
    expect(a.asked.map(aborted)).toEqual([true, true]);
    expect(peer.asking()).toBe(false);
  });

  test('when the connection ends', async () => {
    const { a, peer, ask, answers } = open();
    ask();
    peer.end(new AppError('unavailable', 'fleet.exited', 'gone'));
    await turn();
    expect(aborted(a.asked[0])).toBe(true);
    expect(answers()).toEqual([]);
    expect(peer.asking()).toBe(false);
  });

  test('[TWOWAY-30] no more than 64 are open at once, nor two under one id', async () => {
    const { a, ask, answers } = open();
    for (let id = 0; id < mostAsks; id += 1) ask(id);
    ask(mostAsks);
    expect(a.asked).toHaveLength(mostAsks);
    expect(answers()).toHaveLength(1);
    expect(answers()[0]).toContain('More than 64 requests wait');
    const other = open();
    other.ask('q');
    other.ask('q');
    await turn();
    expect(other.a.asked).toHaveLength(1);
    expect(other.answers()[0]).toContain('-32600');
  });
});

describe('[TWOWAY-23] the time of a call', () => {
  test('stands still while its client is asked, and goes on after', async () => {
    const a = askedClient('a');
    const { promise, resolve } = Promise.withResolvers<UpstreamReply>();
    a.answer = () => promise;
    const { clock, call, ask } = harness(a);
    const asking = call(a);
    clock.advance(600);
    ask();
    clock.advance(60_000);
    resolve(resultOf('{}'));
    await turn();
    let ended = '';
    void asking.then((how) => (ended = how));
    clock.advance(399);
    await turn();
    expect(ended).toBe('');
    clock.advance(1);
    await turn();
    expect(ended).toBe('fleet.timeout');
  });

  test('stands still for one of two calls only when it is told that it is for that one', async () => {
    const [a, b] = [askedClient('a'), askedClient('b')];
    a.answer = never;
    const { clock, call, ask } = harness(a);
    const [first, second] = [call(a), call(b)];
    ask('q', 'roots/list', '{}', 1);
    clock.advance(1_000);
    expect(await second).toBe('fleet.timeout');
    void first;
    await turn();
    expect(a.asked[0]?.signal.aborted).toBe(false);
  });

  test('stands still for ten minutes in all, over however many questions', async () => {
    const a = askedClient('a');
    a.answer = ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(resultOf('{}')), { once: true }));
    const { clock, peer, call, ask } = harness(a);
    const asking = call(a, { timeoutMs: 5_000 });
    for (const id of ['1', '2']) {
      ask(id);
      clock.advance(longestAskMs / 2 - 1_000);
      peer.receive(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"${id}"}}`);
      await turn();
    }
    ask('3');
    clock.advance(2_000 + 4_999);
    await turn();
    expect(a.asked[2]?.signal.aborted).toBe(false);
    clock.advance(1);
    expect(await asking).toBe('fleet.timeout');
    expect(a.asked[2]?.signal.aborted).toBe(true);
    await turn();
    expect(clock.pending()).toBe(0);
  });
});

describe('[TWOWAY-24] what an upstream tells', () => {
  const note = (method: string, params = '{ "level":"info","data":1.0 }'): string =>
    `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;

  test.each(['notifications/message', 'notifications/elicitation/complete', 'vendor/note'])(
    '%s goes to the one client it is about with its bytes, else to nobody',
    (method) => {
      const [a, b] = [askedClient('a'), askedClient('b')];
      const { peer, call, told } = harness();
      peer.receive(note(method));
      void call(a);
      peer.receive(note(method));
      void call(b);
      peer.receive(note(method));
      peer.receive(note(method), 2);
      expect(a.told).toEqual([[method, '{ "level":"info","data":1.0 }']]);
      expect(b.told).toEqual(a.told);
      expect(told).toEqual([]);
    },
  );

  test.each([
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
    'notifications/tasks/status',
  ])('%s is about the connection', (method) => {
    const a = askedClient('a');
    const { peer, call, told } = harness(a);
    void call(a);
    peer.receive(note(method, '{ "uri":"a:b" }'));
    expect(told).toEqual([[method, '{ "uri":"a:b" }']]);
    expect(a.told).toEqual([]);
  });

  test('a client that cannot take it does not hurt the session', async () => {
    const a = { ...askedClient('a'), notify: () => expect.unreachable('thrown on purpose') };
    const { peer, call } = harness(a);
    const calling = call(a);
    peer.receive(note('notifications/message'));
    peer.receive('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(await calling).toBe('result');
  });
});
