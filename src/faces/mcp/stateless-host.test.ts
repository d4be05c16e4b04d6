// What a client of 2026-07-28 is told in the middle of a request, who it is to upstreams, and which methods of upstreams it reaches.
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTestDoor, type TestDoor } from '../../../test/support/agent-door.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import {
  envelope,
  statelessAsk,
  statelessBody,
  statelessHeaders,
  statelessStream,
  type Params,
  type StatelessStream,
} from '../../../test/support/stateless-agent.ts';

let door: TestDoor;

beforeEach(async () => {
  door = await openTestDoor();
});

afterEach(() => door.close());

const key = 'io.modelcontextprotocol/';

describe('log messages', () => {
  const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

  async function heard(_meta: Params): Promise<StatelessStream> {
    const stream = await statelessStream(door, 'tools/call', { name: 'up__logs', _meta }, { id: 1 });
    await stream.ended;
    return stream;
  }

  beforeEach(() => {
    door.dispatch.tools_.set('up__logs', async ({ host }) => {
      for (const level of levels) host?.notify('notifications/message', `{"level":"${level}","data":1.00}`);
      for (const params of ['{"level":"loud","data":1}', '{"data":1}', undefined]) host?.notify('notifications/message', params);
      return { kind: 'upstream', result: '{"content":[]}' };
    });
  });

  test.each(levels)('[ERA-13] a request that wants them from %s on gets those, before its result', async (level) => {
    const { messages, faults } = await heard(envelope({ [`${key}logLevel`]: level }));
    expect(messages.slice(0, -1).map(({ params }) => params?.['level'])).toEqual(levels.slice(levels.indexOf(level)));
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    expect(faults).toEqual([]);
  });

  test('[ERA-13] a request that asked for none gets none, whatever its client can do', async () => {
    for (const _meta of [envelope(), envelope({ [`${key}clientCapabilities`]: { sampling: {} } })]) {
      const { reply } = await statelessAsk(door, 'tools/call', { name: 'up__logs', _meta });
      expect(reply.result).toMatchObject({ resultType: 'complete' });
    }
  });

  test('[ERA-13] [ERA-3] a level that is none is refused', async () => {
    const _meta = envelope({ [`${key}logLevel`]: 'verbose' });
    expect(await statelessAsk(door, 'tools/call', { name: 'up__logs', _meta })).toMatchObject({
      status: 400,
      reply: { error: { code: -32602, message: expect.stringContaining('emergency') as string } },
    });
  });

  test('[ERA-13] of other notices only those come that are no matter of the protocol', async () => {
    door.dispatch.tools_.set('up__logs', async ({ host }) => {
      const others = ['cancelled', 'progress', 'resources/updated', 'tools/list_changed', 'elicitation/complete', 'tasks/status'];
      for (const method of [...others.map((name) => `notifications/${name}`), 'rpc.x']) host?.notify(method, '{}');
      host?.notify('notifications/message', '{"level":"error","data":"end"}');
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const { messages } = await heard(envelope({ [`${key}logLevel`]: 'debug' }));
    expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/message', 1]);
  });

  test('[ERA-13] nothing is told when the request is over', async () => {
    let tell: (() => void) | undefined;
    door.dispatch.tools_.set('up__logs', async ({ host }) => {
      tell = () => host?.notify('notifications/message', '{"level":"error","data":"late"}');
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const { reply } = await statelessAsk(door, 'tools/call', {
      name: 'up__logs',
      _meta: envelope({ [`${key}logLevel`]: 'debug' }),
    });
    tell?.();
    expect(reply.result).toMatchObject({ resultType: 'complete' });
  });
});

test('[ERA-8] a stream on which nothing comes for long shows that somebody is there, and one that never began stays a plain answer', async () => {
  await door.close();
  const clock = createFakeClock();
  door = await openTestDoor({}, { clock });
  let finish: (() => void) | undefined;
  door.dispatch.tools_.set('up__slow', ({ onProgress }) => {
    onProgress?.({ progress: 1 });
    return new Promise((resolve) => (finish = () => resolve({ kind: 'upstream', result: '{"content":[]}' })));
  });
  const params = (more: Params): Params => ({ name: 'up__slow', _meta: envelope(more) });
  const plain = statelessAsk(door, 'tools/call', params({}));
  await expect.poll(() => finish).toBeDefined();
  const finishPlain = finish!;
  const signs: string[] = [];
  const streamed = rawStream(params({ progressToken: 1 }), signs);
  await expect.poll(() => signs.join('')).toContain('notifications/progress');
  for (let turn = 0; turn < 3; turn += 1) clock.advance(25_000);
  await expect.poll(() => signs.join('').match(/^:/gm)).toHaveLength(3);
  finish?.();
  finishPlain();
  await streamed;
  expect((await plain).headers['content-type']).toBe('application/json');
  // Nobody is there any more, and nothing ticks.
  clock.advance(25_000);
  expect(clock.pending()).toBe(0);
});

function rawStream(params: Params, chunks: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...statelessHeaders('tools/call', params),
      'content-type': 'application/json',
      authorization: 'Bearer token-kimi',
    };
    const outgoing = request(door.url, { method: 'POST', headers, agent: false }, (incoming) => {
      incoming.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      incoming.on('end', resolve);
    });
    outgoing.on('error', reject).end(statelessBody(1, 'tools/call', params));
  });
}

test('[ERA-15] clients that declare different things are different callers, in whatever order they say it, up to a short mark', async () => {
  const can = [
    {},
    { roots: {} },
    { sampling: {}, roots: {} },
    { roots: {}, sampling: {} },
    { roots: { x: 1 } },
    { extensions: {} },
  ];
  for (const capabilities of can)
    await statelessAsk(door, 'tools/call', { name: 'up__echo', _meta: envelope({ [`${key}clientCapabilities`]: capabilities }) });
  const sessions = door.dispatch.calls.map(({ caller }) => caller.session);
  expect(sessions[0]).toBe('stateless:kimi');
  expect(sessions[2]).toBe(sessions[3]);
  expect(new Set(sessions).size).toBe(5);
  for (const session of sessions.slice(1)) expect(session).toMatch(/^stateless:kimi:can-[0-9a-f]{16}$/);
  door.agents.ended('kimi');
  expect(new Set(door.dispatch.ended)).toEqual(new Set(sessions));
});

describe('at the endpoint of one upstream', () => {
  const path = '/mcp/upstreams/up';

  test('[ERA-14] it is introduced by what it said of itself', async () => {
    const has = { prompts: false, resources: true, completions: false, logging: true, subscriptions: true };
    const upstream = {
      serverInfo: { name: 'theirs', version: '9', 'x-own': 1 },
      instructions: 'Read first.',
      capabilities: { tools: {}, resources: { 'x-own': true }, experimental: { e: {} } },
    };
    door.dispatch.has = { ...has, upstream };
    expect((await statelessAsk(door, 'server/discover', {}, { path })).reply.result).toMatchObject({
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true, 'x-own': true },
        logging: {},
        experimental: { e: {} },
      },
      instructions: 'Read first.',
      _meta: { 'io.modelcontextprotocol/serverInfo': upstream.serverInfo },
    });
    door.dispatch.has = { ...has, upstream: { ...upstream, instructions: undefined } };
    expect((await statelessAsk(door, 'server/discover', {}, { path })).reply.result).not.toHaveProperty('instructions');
  });

  test('[ERA-14] a method that no revision knows is relayed, without the envelope, and its answer comes as it is', async () => {
    door.dispatch.relays = async () => ({ kind: 'upstream', result: '{"n":1.00}' });
    const params = { a: [1], requestState: 'sallyport:x', _meta: envelope({ progressToken: 1, 'x/y': 2 }) };
    const { body } = await statelessAsk(door, 'vendor/thing', params, { path });
    expect(body).toBe('{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","n":1.00}}');
    expect(door.dispatch.relayed[0]?.request).toMatchObject({
      method: 'vendor/thing',
      target: { kind: 'method', name: 'vendor/thing' },
      rest: { a: [1], requestState: 'sallyport:x', _meta: { 'x/y': 2 } },
    });
  });

  test('[ERA-14] [ERA-4] its headers have to say what the body says', async () => {
    const { status, reply } = await statelessAsk(door, 'vendor/thing', {}, { path, headers: { 'mcp-method': 'vendor/other' } });
    expect([status, reply.error?.code]).toEqual([400, -32020]);
    expect(door.dispatch.relayed).toEqual([]);
  });

  test('[ERA-14] [ERA-3] one that the upstream does not know either is 404 and -32601, any other error is an answer', async () => {
    const answers = ['{"code":-32601,"message":"Method not found"}', '{"code":-32050,"message":"own"}'];
    door.dispatch.relays = async () => ({ kind: 'upstream_error', error: answers.shift()! });
    expect(await statelessAsk(door, 'vendor/thing', {}, { path })).toMatchObject({
      status: 404,
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}',
    });
    expect(await statelessAsk(door, 'vendor/thing', {}, { path })).toMatchObject({
      status: 200,
      reply: { error: { code: -32050 } },
    });
  });

  test.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'tasks/list',
    'tasks/result',
    'sampling/createMessage',
    'notifications/x',
  ])('[ERA-14] %s is no method of an upstream’s own, and 404', async (method) => {
    expect(await statelessAsk(door, method, {}, { path })).toMatchObject({ status: 404, reply: { error: { code: -32601 } } });
    expect(door.dispatch.relayed).toEqual([]);
  });

  test('[ERA-14] nor is any relayed at another endpoint', async () => {
    for (const other of ['/mcp', '/mcp/gate'])
      expect((await statelessAsk(door, 'vendor/thing', {}, { path: other })).status).toBe(404);
    expect(door.dispatch.relayed).toEqual([]);
  });
});
