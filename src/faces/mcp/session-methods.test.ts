// What a session is told and may ask besides calls: notices, levels, followed resources, methods of an upstream, capabilities.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, notice, openSession, openTestDoor, rpc, type Answer, type TestDoor } from '../../../test/support/agent-door.ts';
import { openStream } from '../../../test/support/mcp-stream.ts';
import { schemaFaults } from '../../../test/support/mcp-schema.ts';
import { messageAt, messages, sessionClient, type SessionClient } from '../../../test/support/session-client.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';

let door: TestDoor;
let session: string;
let client: SessionClient;

beforeEach(async () => {
  door = await openTestDoor();
  session = await openSession(door);
  client = sessionClient(door, session);
});

afterEach(() => door.close());

describe('notices', () => {
  const log = (text: string): string => JSON.stringify({ level: 'info', data: text });

  test('[TWOWAY-10] a log message comes on the stream of the call, and is lost when nobody listens', async () => {
    client.host.notify('notifications/message', log('nobody'));
    door.dispatch.tools_.set('up__logs', async ({ host }) => {
      host?.notify('notifications/message', '{"level":"info", "data":[1.0]}');
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const stream = await openStream(door, session, { body: rpc(1, 'tools/call', { name: 'up__logs' }) });
    await stream.ended;
    expect(messages(stream)).toMatchObject([{ method: 'notifications/message', params: { data: [1] } }, { id: 1 }]);
    expect(schemaFaults('2025-11-25', 'LoggingMessageNotification', stream.events[0])).toEqual([]);
    const listening = await openStream(door, session);
    client.host.notify('notifications/message', log('here'));
    expect((await messageAt(listening)).params).toEqual({ level: 'info', data: 'here' });
    expect(listening.events).toHaveLength(1);
    listening.drop();
  });

  test('[TWOWAY-10] a resource that changed is told where the client listens, whatever is called meanwhile, or once when it listens again', async () => {
    const updated = (n: number): void => client.host.notify('notifications/resources/updated', JSON.stringify({ uri: `a:${n}` }));
    for (const n of [1, 2, 1]) updated(n);
    const call = client.post(rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } }));
    const listening = await openStream(door, session);
    await messageAt(listening, 1);
    expect(messages(listening).map(({ params }) => params?.['uri'])).toEqual(['a:1', 'a:2']);
    expect(schemaFaults('2025-11-25', 'ResourceUpdatedNotification', listening.events[0])).toEqual([]);
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    updated(3);
    await messageAt(listening, 2);
    await client.post(notice('notifications/cancelled', { requestId: 1 }));
    expect((await call).status).toBe(202);
    listening.drop();
  });

  test('[TWOWAY-10] what waits for a listener is bounded in number and size', async () => {
    client.host.notify('notifications/vendor', JSON.stringify({ large: 'x'.repeat(5_000) }));
    expect(client.missed()).toEqual([]);
    for (let n = 0; n < 1_000; n += 1) client.host.notify('notifications/vendor', JSON.stringify({ n }));
    expect(client.missed().length).toBe(64);
    const listening = await openStream(door, session);
    await messageAt(listening, 63);
    client.host.notify('notifications/vendor', '{"n":"last"}');
    expect((await messageAt(listening, 64)).params).toEqual({ n: 'last' });
    const again = await openStream(door, session);
    client.host.notify('notifications/vendor', '{"n":"again"}');
    expect((await messageAt(again)).params).toEqual({ n: 'again' });
    again.drop();
    listening.drop();
  });

  test('[TWOWAY-12] roots that changed are told to the gateway, for this session', async () => {
    expect((await client.post(notice('notifications/roots/list_changed'))).status).toBe(202);
    expect(door.dispatch.rootsOf).toEqual([session]);
  });
});

describe('following and levels', () => {
  const parsed = ({ body }: Answer): { result?: JsonObject; error?: JsonObject } => JSON.parse(body) as ReturnType<typeof parsed>;

  test('[TWOWAY-11] subscribe is asked of the gateway with the host of the session, unsubscribe ends the same', async () => {
    expect(await client.post(rpc(1, 'resources/subscribe', { uri: 'a:b' }))).toMatchObject({
      status: 200,
      body: '{"jsonrpc":"2.0","id":1,"result":{}}',
    });
    expect(door.dispatch.followed).toMatchObject([
      { caller: { agent: 'kimi', session }, request: { scope: { kind: 'all' }, uri: 'a:b', host: client.host } },
    ]);
    expect(parsed(await client.post(rpc(2, 'resources/unsubscribe', { uri: 'a:b' })))).toEqual({
      jsonrpc: '2.0',
      id: 2,
      result: {},
    });
    expect(door.dispatch.unfollowed).toHaveLength(1);
    expect(door.dispatch.unfollowed[0]?.host).toBe(door.dispatch.followed[0]?.request.host);
  });

  test('[TWOWAY-11] a refusal is drawn as that of resources/read', async () => {
    const refusals = [
      new AppError('invalid', 'gateway.unknown_resource', 'Resource not found', { data: { uri: 'a:b' } }),
      new AppError('denied', 'policy.denied', "Capability 'a:read:b' not granted.", { hint: 'Stop.' }),
      new Error('/var/secret.sock'),
    ];
    for (const refusal of refusals) {
      door.dispatch.follows = () => Promise.reject(refusal);
      door.dispatch.relays = () => Promise.reject(refusal);
      const [followed, readIt] = [
        await client.post(rpc(1, 'resources/subscribe', { uri: 'a:b' })),
        await client.post(rpc(1, 'resources/read', { uri: 'a:b' })),
      ];
      expect(followed.body).toBe(readIt.body);
      expect(parsed(followed)).toHaveProperty('error');
      expect(followed.body).not.toContain('secret');
    }
  });

  test('[TWOWAY-11] it is taken back like a call', async () => {
    let taken = false;
    door.dispatch.follows = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          taken = true;
          reject(new AppError('unavailable', 'fleet.cancelled', 'cancelled'));
        });
      });
    const subscribing = client.post(rpc('s', 'resources/subscribe', { uri: 'a:b' }));
    await expect.poll(() => door.dispatch.followed.length).toBe(1);
    await client.post(notice('notifications/cancelled', { requestId: 's' }));
    expect(await subscribing).toMatchObject({ status: 202, body: '' });
    expect(taken).toBe(true);
  });

  test('[TWOWAY-9] a level is set for its session alone, and one that is none is -32602', async () => {
    const other = await openSession(door);
    expect(parsed(await client.post(rpc(1, 'logging/setLevel', { level: 'warning' }))).result).toEqual({});
    expect(parsed(await client.post(rpc(2, 'logging/setLevel', { level: 'debug' }), { 'mcp-session-id': other })).result).toEqual(
      {},
    );
    for (const level of ['loud', 7, undefined]) {
      const answer = parsed(await client.post(rpc(3, 'logging/setLevel', { level })));
      expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('emergency') as string });
    }
    expect(door.dispatch.levels).toEqual([
      { session, level: 'warning' },
      { session: other, level: 'debug' },
    ]);
  });
});

describe('methods of an upstream', () => {
  const path = '/mcp/upstreams/files';

  async function there(method: string, params?: object): Promise<string> {
    const own = await openSession(door, 'token-kimi', path);
    return (await ask(door, { path, headers: { 'mcp-session-id': own }, body: rpc(5, method, params) })).body;
  }

  test('[TWOWAY-14] one that no revision knows goes to it with all its params, and the answer comes back as it is', async () => {
    door.dispatch.relays = () => Promise.resolve({ kind: 'upstream', result: '{ "x":1.0 }' });
    const params = { a: [1], arguments: 'own', name: 7, _meta: { progressToken: 'p', 'x/y': 1 } };
    expect(await there('vendor/do.it', params)).toBe('{"jsonrpc":"2.0","id":5,"result":{ "x":1.0 }}');
    const { request } = door.dispatch.relayed[0]!;
    expect(request).toMatchObject({
      method: 'vendor/do.it',
      target: { kind: 'method', name: 'vendor/do.it' },
      scope: { kind: 'upstream', upstream: 'files' },
      rest: { a: [1], arguments: 'own', name: 7, _meta: { 'x/y': 1 } },
    });
    expect(request.args).toBeUndefined();
    expect(request.onProgress).toBeDefined();
    expect(request.host).toBeDefined();
  });

  test.each(['tasks/update', 'tasks/anything', 'server/discover', 'roots/list', 'notifications/x', 'rpc.discover', ''])(
    '[TWOWAY-14] %j of the protocol is -32601 there as well',
    async (method) => {
      expect(await there(method)).toContain('"code":-32601');
      expect(door.dispatch.relayed).toEqual([]);
    },
  );

  test('[TWOWAY-14] at other endpoints it is -32601, and a notice nobody knows is taken and dropped', async () => {
    expect((await client.post(rpc(1, 'vendor/do'))).body).toContain('"code":-32601');
    expect((await client.post(notice('notifications/vendor', {}))).status).toBe(202);
    expect(door.dispatch.relayed).toEqual([]);
  });
});

test('[TWOWAY-13] at its own endpoint an upstream is declared in its own words, and tells of its lists', async () => {
  const capabilities = { prompts: { x: 1 }, tasks: { list: {} }, experimental: { a: {} }, 'vendor.ext': { b: [1] } };
  const serverInfo = { name: 'files', version: '9', icons: [] };
  door.dispatch.has = {
    prompts: true,
    resources: false,
    completions: false,
    logging: true,
    subscriptions: false,
    upstream: { serverInfo, instructions: 'Own words.', capabilities },
  };
  const opened = await ask(door, { path: '/mcp/upstreams/files', body: rpc(1, 'initialize', { protocolVersion: '2025-06-18' }) });
  const { result } = JSON.parse(opened.body) as { result: object };
  expect(result).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: { prompts: { x: 1, listChanged: true }, logging: {}, experimental: { a: {} }, 'vendor.ext': { b: [1] } },
    serverInfo,
    instructions: 'Own words.',
  });
  expect(schemaFaults('2025-11-25', 'InitializeResult', result)).toEqual([]);
  const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const found = door.endpoint.find(headers['mcp-session-id'], 'kimi', { kind: 'upstream', upstream: 'files' });
  for (const list of ['tools', 'prompts'] as const) door.dispatch.change(list);
  await expect.poll(() => [...(found?.missed ?? [])]).toEqual(['{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}']);
});
