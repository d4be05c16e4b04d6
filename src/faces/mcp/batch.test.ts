// JSON-RPC batches as a client of 2025-03-26 sends them, and as somebody sends them who means harm.
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, initialize, openSession, openTestDoor, rpc, type Answer, type TestDoor } from '../../../test/support/agent-door.ts';
import { openStream } from '../../../test/support/mcp-stream.ts';

let door: TestDoor;
let session: string;

beforeEach(async () => {
  door = await openTestDoor();
  session = await sessionOf('2025-03-26');
});

afterEach(() => door.close());

async function sessionOf(protocolVersion: string): Promise<string> {
  const { headers } = await ask(door, { body: rpc('i', 'initialize', { protocolVersion }) });
  return String(headers['mcp-session-id']);
}

function batch(members: readonly unknown[], headers: Record<string, string | undefined> = {}): Promise<Answer> {
  return ask(door, { body: JSON.stringify(members), headers: { 'mcp-session-id': session, ...headers } });
}

const request = (id: unknown, method: string, params?: object): object => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
});
const call = (id: unknown, name: string, args: object = {}, meta?: object): object =>
  request(id, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
const tell = (method: string, params?: object): object => ({ jsonrpc: '2.0', method, ...(params && { params }) });

function answers({ body }: Answer): { id: unknown; result?: unknown; error?: { code: number; message: string } }[] {
  return JSON.parse(body) as ReturnType<typeof answers>;
}

test.each(['2025-06-18', '2025-11-25'])('[BATCH-1] a session of %s is told that it has none', async (version) => {
  const answer = await batch([request(1, 'ping')], { 'mcp-session-id': await sessionOf(version) });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({
    id: null,
    error: { code: -32600, message: expect.stringContaining(version) as string },
  });
});

test('[BATCH-1] without a session, in a foreign one and in the revision without sessions there is none', async () => {
  expect((await batch([request(1, 'ping')], { 'mcp-session-id': undefined })).status).toBe(400);
  expect((await batch([call(1, 'up__echo')], { authorization: 'Bearer token-rosa' })).status).toBe(404);
  expect((await batch([JSON.parse(initialize)], { 'mcp-session-id': undefined })).status).toBe(400);
  const modern = await batch([call(1, 'up__echo')], { 'mcp-protocol-version': '2026-07-28' });
  expect(modern).toMatchObject({ status: 400, body: expect.stringContaining('no JSON-RPC batches') as string });
  expect(door.dispatch.calls).toEqual([]);
  expect(door.endpoint.size()).toBe(1);
});

test('[BATCH-2] requests are answered in one array, in their order, each as if it had come alone', async () => {
  door.dispatch.tools_.set('up__slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { kind: 'upstream', result: '{ "content":[], "n":1.00 }' };
  });
  const answer = await batch([
    call('a', 'up__slow'),
    tell('notifications/initialized'),
    request(2, 'ping'),
    call(3, 'nope'),
    request(4, 'no/method'),
    { jsonrpc: '2.0', id: 'unknown', result: {} },
    { jsonrpc: '1.0', id: 5, method: 'ping' },
    7,
    [request(6, 'ping')],
    request(8, 'initialize', { protocolVersion: '2025-03-26' }),
  ]);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.body.startsWith('[{"jsonrpc":"2.0","id":"a","result":{ "content":[], "n":1.00 }},')).toBe(true);
  expect(answers(answer).map(({ id, error }) => [id, error?.code])).toEqual([
    ['a', undefined],
    [2, undefined],
    [3, undefined],
    [4, -32601],
    [5, -32600],
    [null, -32600],
    [null, -32600],
    [8, -32600],
  ]);
  expect(answers(answer)[7]?.error?.message).toContain('never in a batch');
});

test('[BATCH-2] [BATCH-3] notifications and responses alone are 202; a member that is none is told so', async () => {
  expect(await batch([tell('notifications/initialized'), { jsonrpc: '2.0', id: 1, result: {} }])).toMatchObject({
    status: 202,
    body: '',
  });
  expect(answers(await batch([null]))).toMatchObject([{ id: null, error: { code: -32600 } }]);
});

test('[BATCH-2] when something streams all answers come as events, those that were there already first', async () => {
  const members = [request(1, 'ping'), call(2, 'up__progress', { n: 2 }, { progressToken: 't' }), call(3, 'up__echo')];
  const stream = await openStream(door, session, { body: JSON.stringify(members) });
  await stream.ended;
  expect(stream.contentType).toBe('text/event-stream');
  const seen = (stream.events as { id?: number; method?: string }[]).map(({ id, method }) => id ?? method);
  expect(seen).toHaveLength(5);
  expect(new Set(seen)).toEqual(new Set([1, 2, 3, 'notifications/progress']));
  expect(seen[0]).toBe(1);
  expect(seen.indexOf(2)).toBeGreaterThan(seen.lastIndexOf('notifications/progress'));
  const plain = await batch(members, { accept: 'application/json' });
  expect(answers(plain).map(({ id }) => id)).toEqual([1, 2, 3]);
  const events = await batch(members.slice(0, 1), { accept: 'text/event-stream' });
  expect(events.body).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
});

test('[BATCH-2] [TWOWAY-4] a client is asked on the stream of a batch, and answers in one', async () => {
  const stream = await openStream(door, session, { body: JSON.stringify([call(1, 'up__asks'), call(2, 'up__asks')]) });
  await expect.poll(() => stream.events.length).toBe(2);
  const [one, two] = stream.events as { id: string }[];
  const answer = (id: string, roots: number[]): object => ({ jsonrpc: '2.0', id, result: { roots } });
  const body = [answer(two!.id, [2]), answer(one!.id, [1]), answer(one!.id, [3])];
  expect(await batch(body)).toMatchObject({ status: 202, body: '' });
  await stream.ended;
  expect(stream.events.slice(2)).toMatchObject([
    { id: 2, result: { result: { roots: [2] } } },
    { id: 1, result: { result: { roots: [1] } } },
  ]);
});

test('[TWOWAY-7] an answer in a batch that is none fails what was asked, and says so', async () => {
  const stream = await openStream(door, session, { body: JSON.stringify([call(1, 'up__asks')]) });
  await expect.poll(() => stream.events.length).toBe(1);
  const [{ id }] = stream.events as [{ id: string }];
  const answer = await batch([{ jsonrpc: '2.0', id, result: {}, error: { code: 1, message: 'm' } }]);
  expect(answers(answer)).toMatchObject([{ id, error: { code: -32600 } }]);
  await stream.ended;
  expect(stream.events[1]).toMatchObject({ id: 1, result: { failed: 'host.no_answer' } });
});

test('[BATCH-2] members are taken back one by one, and all by a connection that is gone', async () => {
  const members = [1, 2, 3].map((n) => call(n, 'up__hangs', { n }));
  const first = batch([...members, tell('notifications/cancelled', { requestId: 2 })]);
  await expect.poll(() => door.dispatch.cancelled).toEqual([2]);
  await batch([1, 3].map((requestId) => tell('notifications/cancelled', { requestId })));
  expect(await first).toMatchObject({ status: 202, body: '' });

  const abort = new AbortController();
  const gone = ask(door, { body: JSON.stringify(members), headers: { 'mcp-session-id': session }, signal: abort.signal });
  await expect.poll(() => door.dispatch.calls.length).toBe(6);
  abort.abort();
  await expect(gone).rejects.toThrow('aborted');
  await expect.poll(() => door.dispatch.cancelled).toEqual([2, 1, 3, 1, 2, 3]);
});

test('[BATCH-2] the end of the session answers what is open of it', async () => {
  const open = batch([request('p', 'ping'), call(1, 'up__hangs', { n: 1 })]);
  await expect.poll(() => door.dispatch.calls.length).toBe(1);
  await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session } });
  expect(answers(await open)).toMatchObject([
    { id: 'p', result: {} },
    { id: 1, error: { code: -32001 } },
  ]);
});

test.each<[string, unknown[]]>([
  ['an empty one', []],
  ['one of 65', Array.from({ length: 65 }, (_, n) => call(n, 'up__echo'))],
  ['one of 1,000', Array.from({ length: 1_000 }, (_, n) => call(n, 'up__echo'))],
  ['one of 1,000 notifications', Array.from({ length: 1_000 }, () => tell('notifications/roots/list_changed'))],
  ['one with an id twice', [call('x', 'up__echo'), call(1, 'up__echo'), call('x', 'up__hangs')]],
  ['one with a number twice', [call(7, 'up__echo'), call(8, 'up__echo'), call(7, 'up__echo')]],
])('[BATCH-3] %s is -32600 and does nothing at all', async (_, members) => {
  const answer = await batch(members);
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ id: null, error: { code: -32600 } });
  expect([door.dispatch.calls, door.dispatch.rootsOf]).toEqual([[], []]);
});

test('[BATCH-3] ids of another type are other ids, and 64 members are few enough', async () => {
  expect(answers(await batch([request(1, 'ping'), request('1', 'ping')])).map(({ id }) => id)).toEqual([1, '1']);
  expect(answers(await batch(Array.from({ length: 64 }, (_, n) => call(n, 'up__echo'))))).toHaveLength(64);
});

test('[BATCH-3] an id that is in flight elsewhere is refused in a batch as it is alone', async () => {
  const alone = ask(door, { body: rpc(1, 'tools/call', { name: 'up__hangs' }), headers: { 'mcp-session-id': session } });
  await expect.poll(() => door.dispatch.calls.length).toBe(1);
  expect(answers(await batch([call(1, 'up__echo'), request(2, 'ping')]))).toMatchObject([
    { error: { code: -32600 } },
    { result: {} },
  ]);
  await batch([tell('notifications/cancelled', { requestId: 1 })]);
  expect((await alone).status).toBe(202);
});

test('[BATCH-3] strictness reaches into the members: a repeated key anywhere and nothing is done', async () => {
  const body = `[${rpc(1, 'tools/call', { name: 'up__echo' })},{"jsonrpc":"2.0","id":2,"method":"ping","method":"ping"}]`;
  const answer = await ask(door, { body, headers: { 'mcp-session-id': session } });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ error: { code: -32700 } });
  expect(door.dispatch.calls).toEqual([]);
});

test('[BATCH-2] whatever the members are, every request is answered once and the session lives on', async () => {
  const member = fc.oneof(
    fc.constantFrom('ping', 'tools/list', 'no/method', 'initialize').map((method) => (id: number) => request(id, method)),
    fc
      .constantFrom('up__echo', 'up__fails', 'up__progress', 'nope')
      .map((name) => (id: number) => call(id, name, {}, { progressToken: id })),
    fc.constant(() => tell('notifications/initialized')),
    fc
      .json({ maxDepth: 2 })
      .filter((text) => text.isWellFormed())
      .map((text) => () => JSON.parse(text) as unknown),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 12 }), fc.boolean(), async (made, streams) => {
      const members = made.map((make, id) => make(id));
      const answer = await batch(members, streams ? {} : { accept: 'application/json' });
      const expected = members.filter((one) => (one as { method?: string } | null)?.method !== 'notifications/initialized').length;
      const { headers, status, body } = answer;
      expect([200, 202, 400]).toContain(status);
      if (status !== 200) return;
      const all =
        headers['content-type'] === 'text/event-stream'
          ? body.split('\n').filter((line) => /^data: .*"(result|error)":/.test(line)).length
          : answers(answer).length;
      expect(all).toBe(expected);
    }),
    { numRuns: 60 },
  );
  expect((await ask(door, { body: rpc(99, 'ping'), headers: { 'mcp-session-id': session } })).status).toBe(200);
  expect(await openSession(door)).toBeDefined();
});
