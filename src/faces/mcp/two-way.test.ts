// Requests and notices to the client of a session, over real sockets: on which stream they come, who can answer them and how.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, notice, openSession, openTestDoor, rpc, type Answer, type TestDoor } from '../../../test/support/agent-door.ts';
import { openStream, type OpenStream } from '../../../test/support/mcp-stream.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { rawSocket } from '../../../test/support/raw-socket.ts';
import { messageAt, messages, sessionClient, type SessionClient } from '../../../test/support/session-client.ts';
import { schemaFaults } from '../../../test/support/mcp-schema.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { AppError } from '../../kernel/errors.ts';

let door: TestDoor;
let session: string;
let client: SessionClient;

beforeEach(async () => {
  door = await openTestDoor();
  session = await openSession(door);
  client = sessionClient(door, session);
});

afterEach(() => door.close());

const later = (): AbortSignal => new AbortController().signal;

/** A call of a tool that asks the client, as its client sees it. */
function asking(args: object = {}, id: number | string = 1): Promise<OpenStream> {
  return openStream(door, session, { body: rpc(id, 'tools/call', { name: 'up__asks', arguments: args }) });
}

/** The code an asking fails with. */
function failure(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'answered',
    (error: unknown) => (error as AppError).code,
  );
}

describe('on which stream', () => {
  test('[TWOWAY-2] [TWOWAY-3] a request of a call comes on the stream of that call, and its answer, every byte, goes on to who asked', async () => {
    const stream = await asking({
      method: 'elicitation/create',
      params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
    });
    expect(stream.contentType).toBe('text/event-stream');
    const request = await messageAt(stream);
    expect(request).toMatchObject({ method: 'elicitation/create', params: { message: 'm' } });
    const result = '{ "action" : "accept","content":{"n":1.0, "ü":"\\u00e9"} }';
    expect(await client.post(`{"id":"${request.id}", "jsonrpc":"2.0","result":${result} }`)).toMatchObject({
      status: 202,
      body: '',
    });
    await stream.ended;
    expect(JSON.stringify(stream.events[1])).toContain('"result":{"action":"accept"');
    expect(schemaFaults('2025-11-25', 'ElicitRequest', request)).toEqual([]);
  });

  test('[TWOWAY-3] the very text of result and error, and the value beside it', async () => {
    const stream = await openStream(door, session);
    const asked = [1, 2].map(() => client.host.ask({ method: 'ping', params: undefined, signal: later() }));
    await messageAt(stream, 1);
    const [one, two] = messages(stream);
    await client.post(`{"jsonrpc":"2.0","result":{ "a": [1.50] },"id":"${one?.id}"}`);
    await client.post(`{"jsonrpc":"2.0","error":{ "code": -1, "message":"no","data":{} },"id":"${two?.id}"}`);
    expect(await asked[0]).toEqual({ kind: 'result', json: '{ "a": [1.50] }', value: { a: [1.5] } });
    expect(await asked[1]).toEqual({ kind: 'error', json: '{ "code": -1, "message":"no","data":{} }', code: -1 });
    expect(one).toEqual({ jsonrpc: '2.0', id: one?.id, method: 'ping' });
    stream.drop();
  });

  test('[TWOWAY-2] of several calls the newest that streams carries it, before the stream that is listened on', async () => {
    const listening = await openStream(door, session);
    const calls: Promise<OpenStream>[] = [];
    for (const n of [1, 2]) {
      calls.push(openStream(door, session, { body: rpc(n, 'tools/call', { name: 'up__hangs', arguments: { n } }) }));
      await expect.poll(() => door.dispatch.calls.length).toBe(n);
    }
    const plain = client.post(rpc(3, 'tools/call', { name: 'up__hangs', arguments: { n: 3 } }), { accept: 'application/json' });
    await expect.poll(() => door.dispatch.calls.length).toBe(3);
    const asked = failure(client.host.ask({ method: 'ping', params: undefined, signal: later() }));
    const stream = await calls[1]!;
    expect((await messageAt(stream)).method).toBe('ping');
    for (const requestId of [1, 2, 3]) await client.post(notice('notifications/cancelled', { requestId }));
    expect((await plain).status).toBe(202);
    expect(listening.events).toEqual([]);
    listening.drop();
    await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session } });
    expect(await asked).toBe('host.gone');
  });

  test('[TWOWAY-2] a call that takes no events leaves it to the stream that is listened on', async () => {
    const listening = await openStream(door, session);
    const call = client.post(rpc(1, 'tools/call', { name: 'up__asks' }), { accept: 'application/json' });
    const { id, method } = await messageAt(listening);
    expect(method).toBe('roots/list');
    await client.post(`{"jsonrpc":"2.0","id":"${id}","result":{"roots":[]}}`);
    expect((await call).body).toBe('{"jsonrpc":"2.0","id":1,"result":{"content":[],"result":{"roots":[]}}}');
    listening.drop();
  });

  test('[TWOWAY-2] without a stream it waits for one: to listen on, or of a call', async () => {
    const early = client.host.ask({ method: 'ping', params: '{"early":1}', signal: later() });
    const next = client.host.ask({ method: 'ping', params: '{"early":2}', signal: later() });
    const listening = await openStream(door, session);
    await messageAt(listening, 1);
    expect(messages(listening).map(({ params }) => params?.['early'])).toEqual([1, 2]);
    for (const { id } of messages(listening)) await client.post(`{"jsonrpc":"2.0","id":"${id}","result":{}}`);
    await Promise.all([early, next]);
    listening.drop();
    await expect.poll(() => door.endpoint.find(session, 'kimi', { kind: 'all' })?.stream).toBeUndefined();

    const other = client.host.ask({ method: 'ping', params: undefined, signal: later() });
    const call = await openStream(door, session, { body: rpc(9, 'tools/call', { name: 'up__hangs' }) });
    await client.post(`{"jsonrpc":"2.0","id":"${(await messageAt(call)).id}","result":{}}`);
    expect(await other).toMatchObject({ kind: 'result' });
    call.drop();
  });
});

test.each<[string, (call: string) => string]>([
  ['a call', (call) => call],
  ['a batch', (call) => `[${call}]`],
])('[TWOWAY-2] while a client thinks, the stream of %s that asked it is kept alive', async (_, wrap) => {
  const clock = createFakeClock();
  const own = await openTestDoor({}, { clock });
  const opened = await ask(own, { body: rpc(0, 'initialize', { protocolVersion: '2025-03-26' }) });
  const body = wrap(rpc(1, 'tools/call', { name: 'up__asks' }));
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: ${own.url.host}`,
    'Authorization: Bearer token-kimi',
    'Accept: application/json, text/event-stream',
    `Mcp-Session-Id: ${opened.headers['mcp-session-id'] as string}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  const peer = await rawSocket(Number(own.url.port), `${head.join('\r\n')}\r\n\r\n${body}`);
  expect(await peer.until(/roots\/list/)).not.toContain('keep-alive\n\n');
  for (let turn = 1; turn <= 3; turn += 1) {
    clock.advance(25_000);
    await peer.until(new RegExp(`(\\n: keep-alive\\n[^]*){${turn}}`));
  }
  peer.socket.destroy();
  await own.close();
});

describe('who can answer', () => {
  const answerTo = (id: unknown, result = '{"mine":true}'): string =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

  test('[TWOWAY-4] neither another session of the same agent nor another agent, and only under the very id', async () => {
    const stream = await openStream(door, session);
    const asked = client.host.ask({ method: 'ping', params: undefined, signal: later() });
    const { id } = await messageAt(stream);
    const sibling = await openSession(door);
    const rosa = await openSession(door, 'token-rosa');
    for (const headers of [{ 'mcp-session-id': sibling }, { 'mcp-session-id': rosa, authorization: 'Bearer token-rosa' }])
      expect((await client.post(answerTo(id, '{"forged":1}'), headers)).status).toBe(202);
    expect((await client.post(answerTo(id, '{"forged":2}'), { authorization: 'Bearer token-rosa' })).status).toBe(404);
    for (const other of [1, '1', 'toString', '__proto__', `${id} `]) await client.post(answerTo(other, '{"forged":3}'));
    expect((await client.post(answerTo(id))).status).toBe(202);
    expect(await asked).toMatchObject({ json: '{"mine":true}' });
    stream.drop();
  });

  test('[TWOWAY-4] a second answer is dropped, and so is one to another session’s question under an id that was', async () => {
    const stream = await openStream(door, session);
    const asked = client.host.ask({ method: 'ping', params: undefined, signal: later() });
    const { id } = await messageAt(stream);
    await Promise.all([client.post(answerTo(id, '{"n":1}')), client.post(answerTo(id, '{"n":2}'))]);
    await asked;
    const again = client.host.ask({ method: 'ping', params: undefined, signal: later() });
    expect((await messageAt(stream, 1)).id).not.toBe(id);
    expect((await client.post(answerTo(id, '{"late":true}'))).status).toBe(202);
    await client.post(answerTo(messages(stream)[1]?.id, '{"n":3}'));
    expect(await again).toMatchObject({ json: '{"n":3}' });
    stream.drop();
  });

  test('[TWOWAY-4] [TWOWAY-6] one that was taken back is cancelled at the client, and a late answer is nothing', async () => {
    const stream = await openStream(door, session);
    const abort = new AbortController();
    const asked = failure(client.host.ask({ method: 'ping', params: undefined, signal: abort.signal }));
    const { id } = await messageAt(stream);
    abort.abort();
    expect(await asked).toBe('fleet.cancelled');
    const cancelled = await messageAt(stream, 1);
    expect(cancelled).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
    expect(schemaFaults('2025-11-25', 'CancelledNotification', cancelled)).toEqual([]);
    expect(await client.post(answerTo(id))).toMatchObject({ status: 202, body: '' });
    expect(await failure(client.host.ask({ method: 'ping', params: undefined, signal: abort.signal }))).toBe('fleet.cancelled');
    expect(stream.events).toHaveLength(2);
    stream.drop();
  });

  test('[TWOWAY-6] a call that its client takes back takes back what it asked', async () => {
    const listening = await openStream(door, session);
    const call = await asking({}, 'c');
    const { id } = await messageAt(call);
    await client.post(notice('notifications/cancelled', { requestId: 'c' }));
    await call.ended;
    expect(await messageAt(listening)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
    listening.drop();
  });

  test('[TWOWAY-6] progress reaches who asked, in order, and only while it is asked', async () => {
    const stream = await openStream(door, session);
    const notes: JsonObject[] = [];
    const asked = client.host.ask({
      method: 'sampling/createMessage',
      params: '{"maxTokens":5 ,"messages":[]}',
      signal: later(),
      onProgress: (note) => notes.push(note),
    });
    const request = await messageAt(stream);
    expect(request.params).toEqual({ maxTokens: 5, messages: [], _meta: { progressToken: request.id } });
    expect(schemaFaults('2025-11-25', 'CreateMessageRequest', request)).toEqual([]);
    const progress = (progressToken: unknown, step: number): Promise<Answer> =>
      client.post(notice('notifications/progress', { progressToken, progress: step, message: 'm' }));
    await progress(request.id, 1);
    await progress('other', 7);
    await progress(undefined, 8);
    await progress(request.id, 2);
    await client.post(answerTo(request.id));
    await progress(request.id, 3);
    await asked;
    expect(notes).toEqual([1, 2].map((step) => ({ progress: step, message: 'm' })));
    stream.drop();
  });

  test('[TWOWAY-6] a listener that throws costs nobody anything', async () => {
    const stream = await openStream(door, session);
    const asked = client.host.ask({
      method: 'ping',
      params: undefined,
      signal: later(),
      onProgress: () => {
        throw new Error('closed');
      },
    });
    const { id } = await messageAt(stream);
    expect((await client.post(notice('notifications/progress', { progressToken: id, progress: 1 }))).status).toBe(202);
    await client.post(answerTo(id));
    expect(await asked).toMatchObject({ kind: 'result' });
    stream.drop();
  });

  test('[TWOWAY-4] a client that says it will not answer is believed', async () => {
    const stream = await openStream(door, session);
    const asked = failure(client.host.ask({ method: 'ping', params: undefined, signal: later() }));
    await client.post(notice('notifications/cancelled', { requestId: (await messageAt(stream)).id }));
    expect(await asked).toBe('host.no_answer');
    stream.drop();
  });

  test.each([
    ['a key twice', (id: string) => `{"jsonrpc":"2.0","id":"${id}","result":{"action":"decline","action":"accept"}}`, 400],
    ['a number that does not survive', (id: string) => `{"jsonrpc":"2.0","id":"${id}","result":{"n":9007199254740993}}`, 400],
    ['result and error at once', (id: string) => `{"jsonrpc":"2.0","id":"${id}","result":{},"error":{"code":1,"message":""}}`, 400],
    ['a result that is no object', (id: string) => `{"jsonrpc":"2.0","id":"${id}","result":true}`, 202],
    ['an error without code', (id: string) => `{"jsonrpc":"2.0","id":"${id}","error":{"message":"m"}}`, 202],
  ])('[TWOWAY-7] an answer with %s fails what was asked', async (_, body, status) => {
    const stream = await openStream(door, session);
    const asked = failure(client.host.ask({ method: 'ping', params: undefined, signal: later() }));
    const { id } = await messageAt(stream);
    expect((await client.post(body(id!))).status).toBe(status);
    expect(await asked).toBe('host.no_answer');
    stream.drop();
  });

  test('[TWOWAY-7] of another session such an answer spoils nothing, and a body that is nothing neither', async () => {
    const stream = await openStream(door, session);
    const asked = client.host.ask({ method: 'ping', params: undefined, signal: later() });
    const { id } = await messageAt(stream);
    const spoiled = `{"jsonrpc":"2.0","id":"${id}","result":{"a":1,"a":2}}`;
    expect((await client.post(spoiled, { 'mcp-session-id': await openSession(door) })).status).toBe(400);
    for (const body of ['', '[', `{"id":"${id}"`, '[[]]', `{"jsonrpc":"2.0","id":"x","id":"${id}","result":{}}`])
      await client.post(body);
    await client.post(answerTo(id));
    expect(await asked).toMatchObject({ kind: 'result' });
    stream.drop();
  });

  test('[TWOWAY-3] an answer of megabytes arrives whole', async () => {
    const stream = await openStream(door, session);
    const asked = client.host.ask({ method: 'sampling/createMessage', params: '{}', signal: later() });
    const result = `{"text":"${'ü'.repeat(1_500_000)}"}`;
    expect((await client.post(answerTo((await messageAt(stream)).id, result))).status).toBe(202);
    expect((await asked).json === result).toBe(true);
    stream.drop();
  });
});

describe('the session', () => {
  test('[TWOWAY-1] one host stands behind all calls of a session, with what the client said, and another behind those of another', async () => {
    const said = { capabilities: { sampling: {}, 'x/y': [1] }, clientInfo: { name: 'n', version: '2', extra: true } };
    const opened = await ask(door, { body: rpc(1, 'initialize', { protocolVersion: '2025-11-25', ...said }) });
    const own = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    for (const id of [1, 2]) await client.post(rpc(id, 'tools/call', { name: 'up__echo' }), own);
    await client.post(rpc(3, 'prompts/get', { name: 'p' }), own);
    await client.post(rpc(4, 'tools/call', { name: 'up__echo' }));
    const [one, two, other] = door.dispatch.calls.map(({ call }) => call.host);
    expect(one).toMatchObject({ capabilities: said.capabilities, info: said.clientInfo });
    expect(two).toBe(one);
    expect(door.dispatch.relayed[0]?.request.host).toBe(one);
    expect(other).not.toBe(one);
    expect(other).toMatchObject({ capabilities: {}, info: { name: 'test' } });
  });

  test('[TWOWAY-5] its end fails what was asked, sent or not, and whatever is asked later', async () => {
    const host = client.host;
    const waiting = failure(host.ask({ method: 'ping', params: undefined, signal: later() }));
    const abort = new AbortController();
    const call = await asking();
    await messageAt(call);
    await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session } });
    await call.ended;
    expect(await waiting).toBe('host.gone');
    expect(await failure(host.ask({ method: 'ping', params: undefined, signal: abort.signal }))).toBe('host.gone');
    host.notify('notifications/message', '{}');
    abort.abort();
  });

  test('[TWOWAY-5] what is asked while it ends is refused, not kept', async () => {
    const host = client.host;
    let late: Promise<string> | undefined;
    door.dispatch.tools_.set('up__last-words', ({ signal }) => {
      signal.addEventListener('abort', () => {
        late = failure(host.ask({ method: 'ping', params: undefined, signal: later() }));
      });
      return new Promise(() => undefined);
    });
    const call = client.post(rpc(1, 'tools/call', { name: 'up__last-words' }));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session } });
    expect((await call).status).toBe(200);
    expect(await late).toBe('host.gone');
  });

  test('[TWOWAY-8] one more than 64 is refused, and there is room again after an answer', async () => {
    const stream = await openStream(door, session);
    const abort = new AbortController();
    const one = (): Promise<string> => failure(client.host.ask({ method: 'ping', params: undefined, signal: abort.signal }));
    const asked = Array.from({ length: 64 }, one);
    expect(await one()).toBe('host.busy');
    await messageAt(stream, 63);
    await client.post(`{"jsonrpc":"2.0","id":"${messages(stream)[63]?.id}","result":{}}`);
    expect(await asked[63]).toBe('answered');
    const again = one();
    await messageAt(stream, 64);
    abort.abort();
    expect(await again).toBe('fleet.cancelled');
    stream.drop();
  });
});
