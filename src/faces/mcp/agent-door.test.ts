// The agent door over real sockets: who gets in, which session it is, what a broken message is told.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ask,
  initialize,
  notice,
  openSession,
  openTestDoor,
  rpc,
  type Answer,
  type TestDoor,
} from '../../../test/support/agent-door.ts';
import { rawSocket } from '../../../test/support/raw-socket.ts';

let door: TestDoor;
let session: string;

beforeEach(async () => {
  door = await openTestDoor();
  session = await openSession(door);
});

afterEach(() => door.close());

function inSession(body: string, headers: Record<string, string | undefined> = {}): Promise<Answer> {
  return ask(door, { body, headers: { 'mcp-session-id': session, ...headers } });
}

function parsed(answer: Answer): {
  id?: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
} {
  return JSON.parse(answer.body) as ReturnType<typeof parsed>;
}

describe('sessions', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    '[DOOR-1] initialize in %s is answered in it, with a session id',
    async (version) => {
      const answer = await ask(door, {
        body: rpc(1, 'initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 't', version: '1' } }),
      });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]{16,}$/);
      expect(parsed(answer)).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion: version,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'sallyport', version: '0.0.0' },
          instructions: 'Ask before you act.',
        },
      });
    },
  );

  test('[DOOR-1] the session id is required after initialize, and an unknown one is 404', async () => {
    const without = await ask(door, { body: rpc(1, 'ping') });
    expect(without.status).toBe(400);
    expect(parsed(without)).toMatchObject({ id: 1, error: { message: expect.stringContaining('Mcp-Session-Id') as string } });
    const unknown = await inSession(rpc(2, 'ping'), { 'mcp-session-id': 'made-up' });
    expect(unknown.status).toBe(404);
    expect(parsed(unknown)).toMatchObject({
      id: 2,
      error: { code: -32001, message: expect.stringContaining('initialize') as string },
    });
    expect(await inSession(rpc(3, 'ping'))).toMatchObject({ status: 200, body: '{"jsonrpc":"2.0","id":3,"result":{}}' });
  });

  test('[DOOR-1] DELETE ends a session, and a call in flight with it', async () => {
    const call = inSession(rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 7 } }));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    expect((await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session } })).status).toBe(200);
    expect(parsed(await call)).toMatchObject({ id: 1, error: { code: -32001 } });
    expect(door.dispatch.cancelled).toEqual([7]);
    expect(door.dispatch.ended).toEqual([session]);
    expect((await inSession(rpc(2, 'ping'))).status).toBe(404);
    expect((await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session } })).status).toBe(404);
    expect(door.endpoint.size()).toBe(0);
  });

  test('[DOOR-2] a session answers to the token of its own agent and at its own endpoint only', async () => {
    expect((await inSession(rpc(1, 'ping'), { authorization: 'Bearer token-rosa' })).status).toBe(404);
    expect(
      (await ask(door, { method: 'DELETE', headers: { 'mcp-session-id': session, authorization: 'Bearer token-rosa' } })).status,
    ).toBe(404);
    expect((await ask(door, { path: '/mcp/gate', headers: { 'mcp-session-id': session }, body: rpc(1, 'ping') })).status).toBe(404);
    expect((await inSession(rpc(1, 'ping'))).status).toBe(200);
  });

  test('each endpoint asks the gateway for its own tools', async () => {
    const scopes: unknown[] = [];
    for (const path of ['/mcp', '/mcp/gate', '/mcp/upstreams/files']) {
      const own = await openSession(door, 'token-kimi', path);
      await ask(door, { path, headers: { 'mcp-session-id': own }, body: rpc(1, 'tools/call', { name: 'up__echo' }) });
      scopes.push(door.dispatch.calls.at(-1)?.call.scope);
    }
    expect(scopes).toEqual([{ kind: 'all' }, { kind: 'toolset', toolset: 'gate' }, { kind: 'upstream', upstream: 'files' }]);
  });

  test('[DOOR-1] a version nobody speaks is 400, a spoken or absent one is not', async () => {
    expect((await inSession(rpc(1, 'ping'), { 'mcp-protocol-version': '2031-01-01' })).status).toBe(400);
    for (const version of ['2025-11-25', '2025-03-26', undefined]) {
      expect((await inSession(rpc(1, 'ping'), { 'mcp-protocol-version': version })).status).toBe(200);
    }
  });
});

describe('tokens', () => {
  test.each([
    ['none', undefined, 'no_token'],
    ['an unknown one', 'Bearer nobody', 'unknown_token'],
    ['a revoked one', 'Bearer token-gone', 'revoked_token'],
    ['another scheme', 'Basic token-kimi', 'no_token'],
    ['an empty one', 'Bearer ', 'no_token'],
  ])('[DOOR-2] %s gets 401 and reaches nothing, whatever the route and method', async (_, authorization, reason) => {
    const answers: Answer[] = [];
    for (const method of ['POST', 'GET', 'DELETE']) {
      for (const path of ['/mcp', '/mcp/gate', '/mcp/upstreams/files']) {
        const body = method === 'POST' ? rpc(1, 'tools/call', { name: 'up__echo' }) : '';
        answers.push(await ask(door, { method, path, headers: { authorization, 'mcp-session-id': session }, body }));
      }
    }
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(answers[0]?.headers['www-authenticate']).toBe('Bearer');
    expect(door.dispatch.calls).toEqual([]);
    expect(door.dispatch.refusals).toEqual(answers.map(() => ({ door: 'agent', reason, facts: {} })));
  });

  test('[DOOR-2] unknown, rotated and revoked tokens get the very same answer', async () => {
    door.agents.known.delete('token-rosa');
    const [unknown, rotated, revoked] = await Promise.all(
      ['nobody', 'token-rosa', 'token-gone'].map((token) =>
        ask(door, { headers: { authorization: `Bearer ${token}` }, body: initialize }),
      ),
    );
    expect(rotated?.body).toBe(unknown?.body);
    expect(revoked?.body).toBe(unknown?.body);
    expect(unknown?.body).toContain('sallyport agent');
  });

  test('the scheme may be written in any case', async () => {
    expect((await ask(door, { headers: { authorization: 'bEARER token-kimi' }, body: initialize })).status).toBe(200);
  });

  test('a suspended agent gets in; the gateway answers its calls', async () => {
    const held = await openSession(door, 'token-held');
    const headers = { 'mcp-session-id': held, authorization: 'Bearer token-held' };
    expect((await ask(door, { headers, body: rpc(1, 'tools/call', { name: 'up__echo' }) })).status).toBe(200);
    expect(door.dispatch.calls.at(-1)?.caller).toEqual({ kind: 'agent', agent: 'held', session: held });
  });

  test('[DOOR-12] the sessions of an agent that ended are gone at once, streams and calls with them, those of others stay', async () => {
    const rosa = await openSession(door, 'token-rosa');
    const stream = await rawSocket(
      Number(door.url.port),
      `GET /mcp HTTP/1.1\r\nHost: ${door.url.host}\r\nAuthorization: Bearer token-kimi\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\n\r\n`,
    );
    await stream.until(/keep-alive/);
    const call = inSession(rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } }));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    door.agents.ended('kimi');
    expect(parsed(await call)).toMatchObject({ id: 1, error: { code: -32001 } });
    expect(await stream.until(/\r\n0\r\n\r\n$/)).toMatch(/\r\n0\r\n\r\n$/);
    expect(door.dispatch.cancelled).toEqual([1]);
    expect((await inSession(rpc(2, 'ping'))).status).toBe(404);
    expect(
      (await ask(door, { headers: { authorization: 'Bearer token-rosa', 'mcp-session-id': rosa }, body: rpc(1, 'ping') })).status,
    ).toBe(200);
    stream.socket.destroy();
  });
});

test.each<[Record<string, string>, string]>([
  [{ host: 'rebound.example' }, 'wrong_host'],
  [{ origin: 'https://evil.example' }, 'wrong_origin'],
])('[DOOR-3] a good token with %j is 403 on every route, reaches nothing and is recorded', async (headers, reason) => {
  for (const path of ['/mcp', '/mcp/gate', '/mcp/upstreams/files', '/']) {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      const body = method === 'POST' ? rpc(1, 'tools/call', { name: 'up__echo' }) : '';
      expect((await ask(door, { method, path, headers: { 'mcp-session-id': session, ...headers }, body })).status).toBe(403);
    }
  }
  expect(door.dispatch.calls).toEqual([]);
  expect(door.dispatch.refusals).toHaveLength(16);
  expect(door.dispatch.refusals[0]).toMatchObject({ door: 'agent', reason });
  expect((await inSession(rpc(1, 'ping'))).status).toBe(200);
});

describe('routes and formats', () => {
  test.each([
    '/',
    '/mcp/',
    '/mcp/nope',
    '/mcp/upstreams/',
    '/mcp/upstreams/UPPER',
    '/mcp/upstreams/a/b',
    '/mcp/upstreams/%2e%2e',
    '/.well-known/oauth-protected-resource',
  ])('there is nothing at %s', async (path) => {
    expect((await ask(door, { path, body: initialize })).status).toBe(404);
  });

  test.each(['PUT', 'PATCH', 'OPTIONS', 'HEAD'])('%s is 405 with Allow', async (method) => {
    const { status, headers } = await ask(door, { method });
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, POST, DELETE');
  });

  test.each(['text/plain', 'application/json; charset=latin1', 'application/jsonx', undefined])(
    '[DOOR-4] the content type %s is 415',
    async (type) => {
      expect((await inSession(rpc(1, 'ping'), { 'content-type': type })).status).toBe(415);
    },
  );

  test('[DOOR-4] a compressed body is 415', async () => {
    expect((await inSession(rpc(1, 'ping'), { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
    'the content type %s is taken',
    async (type) => {
      expect((await inSession(rpc(1, 'ping'), { 'content-type': type })).status).toBe(200);
    },
  );

  test('an Accept that takes neither form is 406, one that takes only events gets its answer as one', async () => {
    expect((await inSession(rpc(1, 'ping'), { accept: 'text/html' })).status).toBe(406);
    expect((await inSession(rpc(1, 'ping'), { accept: '*/*' })).headers['content-type']).toBe('application/json');
    expect((await inSession(rpc(1, 'ping'), { accept: 'application/json' })).headers['content-type']).toBe('application/json');
    const events = await inSession(rpc(1, 'ping'), { accept: 'text/event-stream' });
    expect(events.headers['content-type']).toBe('text/event-stream');
    expect(events.body).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    expect((await ask(door, { method: 'GET', headers: { 'mcp-session-id': session, accept: 'application/json' } })).status).toBe(
      406,
    );
  });

  test('notifications and responses are 202 without a body', async () => {
    for (const body of [
      notice('notifications/initialized'),
      notice('notifications/unknown', { a: 1 }),
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ]) {
      expect(await inSession(body)).toMatchObject({ status: 202, body: '' });
    }
  });
});

describe('broken messages', () => {
  test.each([
    ['{', -32700, 'not JSON'],
    ['', -32700, 'not JSON'],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700, '"id" appears twice'],
    [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","arguments":{"n":9007199254740993}}}',
      -32700,
      '9007199254740993',
    ],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}', -32700, 'surrogate'],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(70)}${']'.repeat(70)}}}`, -32700, 'nesting'],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 'jsonrpc'],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, '"id"'],
    ['"ping"', -32600, 'object'],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, '2025-03-26 only'],
    ['[]', -32600, '2025-03-26 only'],
  ])('[DOOR-4] %s is 400 and says why', async (body, code, why) => {
    const answer = await inSession(body);
    expect(answer.status).toBe(400);
    expect(parsed(answer).error?.code).toBe(code);
    expect(parsed(answer).error?.message).toContain(why);
    expect(door.dispatch.calls).toEqual([]);
  });

  test('[DOOR-4] a message that names its id gets the error under it', async () => {
    expect(parsed(await inSession('{"jsonrpc":"2.0","id":"x","method":1}'))).toMatchObject({ id: 'x', error: { code: -32600 } });
  });

  test.each(['vendor/do', 'tasks/update', 'server/discover', 'roots/list', '__proto__', 'constructor'])(
    'the method %s is in no registry and so -32601',
    async (method) => {
      expect(parsed(await inSession(rpc(1, method)))).toMatchObject({ id: 1, error: { code: -32601 } });
    },
  );

  test('a body with __proto__ in it changes nothing', async () => {
    await inSession(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__echo","arguments":{"__proto__":{"admin":true}},"__proto__":{"scope":1}}}',
    );
    expect(JSON.stringify(door.dispatch.calls[0]?.call.args)).toBe('{"__proto__":{"admin":true}}');
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test('[DOOR-4] whatever a body holds, the answer is a clear one and the door stands', async () => {
    const whole = rpc(1, 'tools/call', { name: 'up__echo', arguments: { a: [1, 'x', null] }, _meta: { progressToken: 1 } });
    const spoiled = fc
      .tuple(
        fc.nat(whole.length),
        fc.nat(12),
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '1', '\\u', 'd8', ' ', 'e') }),
      )
      .map(([at, gone, added]) => whole.slice(0, at) + added + whole.slice(at + gone));
    await fc.assert(
      fc.asyncProperty(fc.oneof(spoiled, fc.json(), fc.string({ unit: 'binary' })), async (body) => {
        const answer = await inSession(body);
        expect([200, 202, 400]).toContain(answer.status);
        expect(answer.status === 400 ? parsed(answer).error?.message : 'fine').toMatch(/./);
      }),
      { numRuns: 300 },
    );
    expect((await inSession(rpc(2, 'ping'))).status).toBe(200);
  });
});
