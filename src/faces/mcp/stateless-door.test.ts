// 2026-07-28 over real sockets: what a request has to say of itself, what is answered to one that does not, and that the sessions of
// earlier revisions live on beside it. Every answer is judged by the published schema on its way in (test/support/stateless-agent.ts).
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, initialize, notice, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';
import { toolText } from '../../../test/support/fake-dispatch.ts';
import { schemaFaults } from '../../../test/support/mcp-schema.ts';
import {
  envelope,
  judged,
  statelessAsk,
  statelessBody,
  statelessHeaders,
  statelessStream,
  type Params,
  type Reply,
} from '../../../test/support/stateless-agent.ts';

let door: TestDoor;

beforeEach(async () => {
  door = await openTestDoor();
});

afterEach(() => door.close());

const echo = { name: 'up__echo', arguments: { a: ['ü', 1] } };

describe('both eras at one endpoint', () => {
  test('[ERA-1] [ERA-2] a call is served without a session and gives none, and one in a session is what it was', async () => {
    const session = await openSession(door);
    const stateless = await statelessAsk(door, 'tools/call', echo, { id: 'x' });
    expect(stateless.status).toBe(200);
    expect(stateless.headers['mcp-session-id']).toBeUndefined();
    expect(stateless.body).toBe(
      '{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","content":[{"type":"text","text":"{\\"a\\":[\\"ü\\",1]}"}]}}',
    );
    const inSession = await ask(door, { headers: { 'mcp-session-id': session }, body: rpc('x', 'tools/call', echo) });
    expect(inSession.body).toBe('{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"{\\"a\\":[\\"ü\\",1]}"}]}}');
    expect(door.endpoint.size()).toBe(1);
  });

  test('[ERA-1] a session id beside an envelope is not looked at, whosever it is', async () => {
    expect((await statelessAsk(door, 'tools/list', {}, { headers: { 'mcp-session-id': 'made-up' } })).status).toBe(200);
  });

  test('[ERA-1] initialize without an envelope opens a session, whatever the header says', async () => {
    const answer = await ask(door, { headers: { 'mcp-protocol-version': '2026-07-28' }, body: initialize });
    expect(answer.headers['mcp-session-id']).toMatch(/./);
    expect(JSON.parse(answer.body)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  test('[ERA-1] a version of no era, in a header alone, is refused as it always was', async () => {
    const answer = await ask(door, { headers: { 'mcp-protocol-version': '2031-01-01' }, body: rpc(1, 'ping') });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ id: 1, error: { code: -32000 } });
  });

  test('[ERA-2] [DOOR-2] whatever it says of itself, the token says who it is', async () => {
    const params = { ...echo, _meta: envelope({ 'io.modelcontextprotocol/clientInfo': { name: 'kimi', version: '1' } }) };
    await statelessAsk(door, 'tools/call', params, { token: 'token-rosa' });
    expect(door.dispatch.calls[0]?.caller.agent).toBe('rosa');
    const nobody = await statelessAsk(door, 'tools/call', echo, { token: 'token-gone' });
    expect(nobody.status).toBe(401);
    expect(nobody.reply).not.toHaveProperty('id');
    expect(door.dispatch.calls).toHaveLength(1);
  });

  test('[ERA-2] all requests of an agent at one endpoint are of one caller, at another of another', async () => {
    for (const [path, token] of [
      ['/mcp', 'token-kimi'],
      ['/mcp', 'token-kimi'],
      ['/mcp/gate', 'token-kimi'],
      ['/mcp/upstreams/files', 'token-kimi'],
      ['/mcp', 'token-rosa'],
    ] as const)
      await statelessAsk(door, 'tools/call', echo, { path, token });
    expect(door.dispatch.calls.map(({ caller }) => caller.session)).toEqual([
      'stateless:kimi',
      'stateless:kimi',
      'stateless:kimi:gate',
      'stateless:kimi:upstreams:files',
      'stateless:rosa',
    ]);
    expect(door.dispatch.calls[3]?.call.scope).toEqual({ kind: 'upstream', upstream: 'files' });
  });

  test('[ERA-2] the gateway gets the params without the envelope, and what the client said of itself apart', async () => {
    const _meta = envelope({ progressToken: 7, traceparent: '00-1', 'io.modelcontextprotocol/clientCapabilities': { roots: {} } });
    await statelessAsk(door, 'tools/call', { ...echo, requestState: 's', _meta });
    expect(door.dispatch.calls[0]?.call).toMatchObject({
      args: echo.arguments,
      client: { capabilities: { roots: {} }, info: { name: 'bare', version: '1' } },
    });
    expect(door.dispatch.calls[0]?.call.rest).toEqual({ requestState: 's', _meta: { traceparent: '00-1' } });
  });
});

test('[ERA-2] server/discover says which revisions are served, what with, and by whom', async () => {
  const { status, reply } = await statelessAsk(door, 'server/discover');
  expect(status).toBe(200);
  expect(reply.result).toEqual({
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
    capabilities: { tools: { listChanged: true } },
    instructions: 'Ask before you act.',
    ttlMs: 30_000,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'sallyport', version: '0.0.0' } },
  });
});

test('[ERA-7] [DOOR-7] a list is private, walks its pages, and holds every definition byte for byte', async () => {
  door.dispatch.listed = Array.from({ length: 120 }, (_, index) => toolText(`up__tool-${index}`));
  const first = await statelessAsk(door, 'tools/list');
  expect(first.reply.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  expect(first.body).toContain(toolText('up__tool-99'));
  const second = await statelessAsk(door, 'tools/list', { cursor: first.reply.result?.['nextCursor'] });
  expect(second.reply.result?.['tools']).toHaveLength(20);
  expect(second.reply.result).toMatchObject({ cacheScope: 'private' });
  const wrong = await statelessAsk(door, 'tools/list', { cursor: 'mine' });
  expect(wrong).toMatchObject({ status: 200, reply: { id: 1, error: { code: -32602 } } });
});

describe('the envelope', () => {
  const without = (key: string): Params => Object.fromEntries(Object.entries(envelope()).filter(([name]) => name !== key));
  test.each<[string, unknown]>([
    ['none', undefined],
    ['no object', 1],
    ['an empty one', {}],
    ['no version', without('io.modelcontextprotocol/protocolVersion')],
    ['no capabilities', without('io.modelcontextprotocol/clientCapabilities')],
    ['capabilities that are no object', envelope({ 'io.modelcontextprotocol/clientCapabilities': [] })],
    ['a version that is no string', envelope({ 'io.modelcontextprotocol/protocolVersion': 20260728 })],
    ['client info without a version', envelope({ 'io.modelcontextprotocol/clientInfo': { name: 'x' } })],
    ['a level that is no string', envelope({ 'io.modelcontextprotocol/logLevel': 1 })],
  ])('[ERA-3] with %s a request is 400 and -32602, and says what is missing', async (_, _meta) => {
    const { status, reply } = await statelessAsk(door, 'tools/call', { ...echo, _meta }, { id: 'e' });
    expect(status).toBe(400);
    expect(reply).toMatchObject({ id: 'e', error: { code: -32602, message: expect.stringContaining('_meta') as string } });
    expect(door.dispatch.calls).toEqual([]);
  });

  test('[ERA-3] client info may be left out', async () => {
    const _meta = without('io.modelcontextprotocol/clientInfo');
    expect((await statelessAsk(door, 'tools/call', { ...echo, _meta })).status).toBe(200);
  });

  test.each(['v999.0.0', '2027-01-01', ''])(
    '[ERA-3] the revision %j is 400 and -32022, with those that are served',
    async (version) => {
      const _meta = envelope({ 'io.modelcontextprotocol/protocolVersion': version });
      const answer = await statelessAsk(door, 'server/discover', { _meta }, { headers: { 'mcp-protocol-version': version } });
      expect(answer.status).toBe(400);
      const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];
      expect(answer.reply).toMatchObject({ id: 1, error: { code: -32022, data: { supported, requested: version } } });
    },
  );

  test('[ERA-3] a revision that is served in sessions is not served without, and says how it is', async () => {
    const _meta = envelope({ 'io.modelcontextprotocol/protocolVersion': '2025-11-25' });
    const answer = await statelessAsk(
      door,
      'tools/call',
      { ...echo, _meta },
      { headers: { 'mcp-protocol-version': '2025-11-25' } },
    );
    expect(answer.status).toBe(400);
    expect(answer.reply.error).toMatchObject({ code: -32022, message: expect.stringContaining('initialize') as string });
    expect(answer.reply.error?.data?.['supported']).not.toContain('2025-11-25');
  });
});

describe('methods', () => {
  test.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'tasks/list',
    'tasks/result',
    'unknown/method',
    '__proto__',
    'constructor',
  ])('[ERA-3] %s is 404 and -32601', async (method) => {
    const { status, reply } = await statelessAsk(door, method, {}, { id: 500 });
    expect(status).toBe(404);
    expect(reply).toMatchObject({ id: 500, error: { code: -32601 } });
    expect(door.endpoint.size()).toBe(0);
  });

  test.each(['GET', 'DELETE'])('[ERA-3] %s is 405: there is no session to listen in or to end', async (method) => {
    const { status, headers, body } = await ask(door, { method, headers: { 'mcp-protocol-version': '2026-07-28' } });
    expect(status).toBe(405);
    expect(headers.allow).toBe('POST');
    expect(judged(JSON.parse(body) as Reply, '')).not.toHaveProperty('id');
  });

  test('[ERA-3] a notification is taken and forgotten, a response is no request', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    for (const body of [notice('notifications/cancelled', { requestId: 1 }), notice('notifications/x', { _meta: envelope() })])
      expect(await ask(door, { headers, body })).toMatchObject({ status: 202, body: '' });
    const response = await ask(door, { headers, body: '{"jsonrpc":"2.0","id":1,"result":{}}' });
    expect(response.status).toBe(400);
    expect(judged(JSON.parse(response.body) as Reply, '')).toMatchObject({ error: { code: -32600 } });
  });

  test.each(['{', '[]', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', '"x"'])(
    '[ERA-10] [DOOR-4] the broken body %s gets an error without an id, as the schema wants it',
    async (body) => {
      const answer = await ask(door, { headers: statelessHeaders('tools/list'), body });
      expect(answer.status).toBe(400);
      expect(judged(JSON.parse(answer.body) as Reply, '')).not.toHaveProperty('id');
    },
  );
});

describe('what comes back', () => {
  test('[ERA-7] own answers, misuse and failures say that they are complete, and who says so', async () => {
    for (const name of ['scopegate_can_i', 'nope', 'up__breaks']) {
      const { status, reply } = await statelessAsk(door, 'tools/call', { name, arguments: {} });
      expect(status).toBe(200);
      expect(reply.result).toMatchObject({
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'sallyport' } },
      });
    }
  });

  test('[ERA-7] [DOOR-11] an upstream that speaks the era itself is not corrected', async () => {
    const result = '{ "resultType":"input_required","requestState":"…", "inputRequests":{}, "_meta":{"a/b":1.00}}';
    door.dispatch.tools_.set('up__asks', async () => ({ kind: 'upstream', result }));
    const answer = await ask(door, {
      headers: statelessHeaders('tools/call', { name: 'up__asks' }),
      body: statelessBody(1, 'tools/call', { name: 'up__asks' }),
    });
    expect(answer.body).toBe(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    expect(schemaFaults('2026-07-28', 'InputRequiredResult', JSON.parse(result))).toEqual([]);
  });

  test('[ERA-11] errors of upstreams come as they are, those that were renamed under their new code', async () => {
    expect((await statelessAsk(door, 'tools/call', { name: 'up__fails' })).body).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"own words","data":{"deep":[1]}}}',
    );
    door.dispatch.tools_.set('up__gone', async () => ({ kind: 'upstream_error', error: '{"code":-32002,"message":"gone"}' }));
    expect(await statelessAsk(door, 'tools/call', { name: 'up__gone' })).toMatchObject({
      status: 200,
      reply: { error: { code: -32602, message: 'gone' } },
    });
    const error = '{"code":-32021,"message":"needs sampling","data":{"requiredCapabilities":{"sampling":{}}}}';
    door.dispatch.tools_.set('up__needs', async () => ({ kind: 'upstream_error', error }));
    expect(await statelessAsk(door, 'tools/call', { name: 'up__needs' })).toMatchObject({
      status: 400,
      body: `{"jsonrpc":"2.0","id":1,"error":${error}}`,
    });
  });

  test('[ERA-8] [DOOR-5] progress comes on the stream of its request, in order, and then the result; nothing else does', async () => {
    const params = { name: 'up__progress', arguments: { n: 20 }, _meta: envelope({ progressToken: 't' }) };
    const stream = await statelessStream(door, 'tools/call', params, { id: 5 });
    door.dispatch.change();
    await stream.ended;
    expect(stream.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    expect(stream.faults).toEqual([]);
    expect(stream.messages.slice(0, -1).map(({ params: note }) => note?.['progress'])).toEqual(
      Array.from({ length: 20 }, (_, step) => step + 1),
    );
    expect(stream.messages.at(-1)).toMatchObject({ id: 5, result: { resultType: 'complete' } });
    expect((await statelessAsk(door, 'tools/call', { ...params, _meta: envelope() })).headers['content-type']).toBe(
      'application/json',
    );
  });

  test('[ERA-8] [DOOR-6] closing the connection cancels the call, with and without a stream', async () => {
    const plain = new AbortController();
    const hang = (n: number, more: Params = {}): Params => ({ name: 'up__hangs', arguments: { n }, ...more });
    const call = ask(door, {
      headers: statelessHeaders('tools/call', hang(1)),
      body: statelessBody(1, 'tools/call', hang(1)),
      signal: plain.signal,
    });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    plain.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await expect.poll(() => door.dispatch.cancelled).toEqual([1]);

    door.dispatch.tools_.set('up__starts', (asked, caller) => {
      asked.onProgress?.({ progress: 1 });
      return door.dispatch.tools_.get('up__hangs')!(asked, caller);
    });
    const starts = { name: 'up__starts', arguments: { n: 2 }, _meta: envelope({ progressToken: 1 }) };
    const stream = await statelessStream(door, 'tools/call', starts);
    await expect.poll(() => stream.messages.length).toBe(1);
    stream.drop();
    await expect.poll(() => door.dispatch.cancelled).toEqual([1, 2]);
  });

  test('[ERA-8] two clients of one agent may use one id at once, and one leaving does not disturb the other', async () => {
    const abort = new AbortController();
    const params = { name: 'up__hangs', arguments: { n: 1 } };
    const first = ask(door, {
      headers: statelessHeaders('tools/call', params),
      body: statelessBody(1, 'tools/call', params),
      signal: abort.signal,
    });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    let finish: (() => void) | undefined;
    door.dispatch.tools_.set(
      'up__waits',
      () => new Promise((resolve) => (finish = () => resolve({ kind: 'upstream', result: '{"content":[]}' }))),
    );
    const second = statelessAsk(door, 'tools/call', { name: 'up__waits' }, { id: 1 });
    await expect.poll(() => finish).toBeDefined();
    abort.abort();
    await expect(first).rejects.toThrow(/abort/i);
    await expect.poll(() => door.dispatch.cancelled).toEqual([1]);
    finish?.();
    expect((await second).reply).toMatchObject({ id: 1, result: { content: [] } });
  });
});

test('[ERA-10] whatever a request holds, the answer is one the schema knows and the door stands', async () => {
  const spoil = fc.record({
    method: fc.constantFrom('tools/call', 'tools/list', 'server/discover', 'subscriptions/listen', 'ping', ''),
    params: fc.dictionary(
      fc.constantFrom('name', 'arguments', 'cursor', '_meta', 'notifications', 'uri'),
      fc.jsonValue({ maxDepth: 2 }),
    ),
    meta: fc.dictionary(fc.constantFrom(...Object.keys(envelope()), 'progressToken', 'x'), fc.jsonValue({ maxDepth: 1 })),
    method_: fc.constantFrom('tools/call', 'tools/list', 'ping'),
  });
  await fc.assert(
    fc.asyncProperty(spoil, async ({ method, params, meta, method_ }) => {
      const whole = JSON.parse(JSON.stringify({ _meta: { ...envelope(), ...meta }, ...params })) as Params;
      if (method === 'subscriptions/listen') return;
      const { status } = await statelessAsk(door, method, whole, {
        headers: { 'mcp-method': method_, 'mcp-name': typeof whole['name'] === 'string' ? 'x' : undefined },
      });
      expect([200, 400, 404]).toContain(status);
    }),
    { numRuns: 150 },
  );
  expect((await statelessAsk(door, 'tools/call', echo)).status).toBe(200);
});

test('[ERA-8] calls in flight are bounded per agent, and one more is refused while those go on', async () => {
  await door.close();
  door = await openTestDoor({}, { maxCallsInFlight: 2 });
  const params = { name: 'up__hangs', arguments: { n: 1 } };
  const abort = new AbortController();
  const two = [1, 2].map((id) =>
    ask(door, {
      headers: statelessHeaders('tools/call', params),
      body: statelessBody(id, 'tools/call', params),
      signal: abort.signal,
    }).catch(() => undefined),
  );
  await expect.poll(() => door.dispatch.calls.length).toBe(2);
  expect((await statelessAsk(door, 'tools/call', echo)).reply.error).toMatchObject({
    code: -32603,
    message: expect.stringContaining('2 calls') as string,
  });
  expect((await statelessAsk(door, 'tools/call', echo, { token: 'token-rosa' })).reply).toHaveProperty('result');
  abort.abort();
  await Promise.all(two);
  await expect.poll(async () => 'result' in (await statelessAsk(door, 'tools/call', echo)).reply).toBe(true);
});
