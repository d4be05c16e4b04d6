// The stdio bridge where the daemon asks: questions and answers of a session, batches, and what outlives a restart of the daemon.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { notice, openTestDoor, rpc, type TestDoor } from '../../test/support/agent-door.ts';
import { startBridge, type HeardMessage, type RunningBridge } from '../../test/support/running-bridge.ts';
import { envelope, judged, statelessBody, type Params, type Reply } from '../../test/support/stateless-agent.ts';
import { asAppError } from '../kernel/errors.ts';
import type { ToolCall } from '../kernel/dispatch.ts';

const form = '{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}, "x":1.00}';

let door: TestDoor;
let one: RunningBridge;
/** What the upstream got for its questions. */
let got: unknown[];

beforeEach(async () => {
  got = [];
  door = await openTestDoor();
  serve();
  one = startBridge({ url: door.url.href }, 'token-kimi', 100);
});

afterEach(async () => {
  one.input.end();
  await one.done.catch(() => undefined);
  await door.close();
});

function serve(): void {
  door.dispatch.has = { prompts: false, resources: true, completions: false, logging: true, subscriptions: true };
  door.dispatch.tools_.set('up__sure', (call) => sure(call));
}

async function sure({ host, signal }: Pick<ToolCall, 'host' | 'signal'>): Promise<{ kind: 'upstream'; result: string }> {
  const heard = await host!.ask({ method: 'elicitation/create', params: form, signal }).then(
    ({ json }) => json,
    (thrown: unknown) => JSON.stringify({ gone: asAppError(thrown).code }),
  );
  got.push(JSON.parse(heard));
  return { kind: 'upstream', result: `{"content":[],"x-heard":${heard}}` };
}

/** Restarts the daemon on the same port. */
async function restart(): Promise<void> {
  const port = Number(door.url.port);
  await door.close();
  door = await openTestDoor({}, {}, port);
  serve();
}

async function connected(protocolVersion = '2025-11-25'): Promise<void> {
  const capabilities = { elicitation: {} };
  one.say(
    rpc('init', 'initialize', { protocolVersion, capabilities, clientInfo: { name: 't', version: '1' } }),
    notice('notifications/initialized'),
  );
  await one.answerTo('init');
}

async function question(nth = 0): Promise<HeardMessage> {
  const asked = (): HeardMessage | undefined => one.heard.filter(({ method }) => method === 'elicitation/create')[nth];
  await expect.poll(asked, { timeout: 5_000 }).toBeDefined();
  return asked()!;
}

function answer(id: unknown, more: object = { result: { action: 'accept' } }): string {
  return JSON.stringify({ jsonrpc: '2.0', id, ...more });
}

function told(method: string): unknown[] {
  return one.heard.filter((message) => message.method === method).map(({ params }) => params);
}

describe('questions', () => {
  test('[BRIDGE-1] the daemon’s question reaches the client on the stream of its call, and the answer whoever asked, byte for byte', async () => {
    await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    expect(one.raw.find((line) => line.includes('elicitation/create'))).toContain(`"params":${form}`);
    one.say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"action":"accept", "n":1.0}}`);
    await one.answerTo(1);
    expect(one.raw.at(-1)).toBe('{"jsonrpc":"2.0","id":1,"result":{"content":[],"x-heard":{"action":"accept", "n":1.0}}}');
  });

  test('[BRIDGE-1] an error is an answer too, and what nobody asked goes nowhere', async () => {
    await connected();
    one.say(answer('made-up'), rpc(1, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    one.say(answer('made-up'), answer(id, { error: { code: -1, message: 'no' } }), answer(id));
    expect(await one.answerTo(1)).toMatchObject({ result: { 'x-heard': { code: -1, message: 'no' } } });
    expect(got).toHaveLength(1);
    expect(one.log.lines).toEqual([]);
  });

  test('[BRIDGE-1] a question comes on the notice stream as well, and other calls go on meanwhile', async () => {
    await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__echo', arguments: {} }));
    await one.answerTo(1);
    const { host } = door.dispatch.calls[0]!.call;
    const { signal } = new AbortController();
    const asked = sure({ host: host!, signal });
    const { id } = await question();
    one.say(rpc(2, 'ping'));
    await one.answerTo(2);
    one.say(answer(id));
    await asked;
    expect(got).toEqual([{ action: 'accept' }]);
  });

  test('[BRIDGE-2] a question that is taken back is cancelled at the client, and its late answer goes nowhere', async () => {
    await connected();
    const taken = new AbortController();
    door.dispatch.tools_.set('up__sure', ({ host }) => sure({ host: host!, signal: taken.signal }));
    one.say(rpc(1, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    taken.abort();
    await one.answerTo(1);
    expect(told('notifications/cancelled')).toMatchObject([{ requestId: id }]);
    one.say(answer(id), rpc(2, 'ping'));
    await one.answerTo(2);
    expect(got).toEqual([{ gone: 'fleet.cancelled' }]);
  });

  test('[BRIDGE-2] what a session asked is over with it: the client is told, and its answer meets no question of the next', async () => {
    await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    await restart();
    one.say(rpc(2, 'ping'));
    await one.answerTo(2);
    await expect.poll(() => told('notifications/cancelled')).toMatchObject([{ requestId: id }]);
    one.say(rpc(3, 'tools/call', { name: 'up__sure' }));
    const again = await question(1);
    one.say(answer(id, { result: { action: 'accept', old: true } }), answer(again.id));
    expect(await one.answerTo(3)).toMatchObject({ result: { 'x-heard': { action: 'accept' } } });
    expect(got.at(-1)).toEqual({ action: 'accept' });
  });

  test('[BRIDGE-2] an answer alone makes no new session', async () => {
    await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    door.agents.ended('kimi');
    await one.answerTo(1);
    one.say(answer(id));
    // The notice stream finds out by itself that the session is over, a moment later.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(door.endpoint.size()).toBe(0);
  });

  test('[BRIDGE-1] an answer that cannot be read fails its question, whose call ends', async () => {
    await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    one.say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"action":"accept","action":"decline"}}`);
    await one.answerTo(1);
    expect(got).toEqual([{ gone: 'host.no_answer' }]);
  });
});

describe('batches', () => {
  test('[BRIDGE-3] a client of 2025-03-26 sends arrays: requests are answered, notices and answers taken', async () => {
    await connected('2025-03-26');
    one.say(`[${rpc(1, 'tools/call', { name: 'up__echo', arguments: { a: 1 } })}, ${rpc(2, 'ping')}]`);
    await expect.poll(() => one.heard.find((message) => Array.isArray(message))).toMatchObject([{ id: 1 }, { id: 2 }]);
    one.say(rpc(3, 'tools/call', { name: 'up__sure' }));
    const { id } = await question();
    one.say(`[${answer('made-up')},${answer(id)}]`);
    expect(await one.answerTo(3)).toMatchObject({ result: { 'x-heard': { action: 'accept' } } });
  });

  test('[BRIDGE-3] where the session has none, each request of it is told so; an empty one is told at once', async () => {
    await connected();
    one.say('[]', `[${rpc(1, 'ping')},${rpc(2, 'ping')}]`);
    for (const id of [1, 2]) expect((await one.answerTo(id)).error?.message).toMatch(/2025-03-26/);
    expect(await one.answerTo(null)).toMatchObject({ error: { code: -32600 } });
  });

  test('[BRIDGE-3] one without a daemon is answered request by request', async () => {
    await connected('2025-03-26');
    await door.close();
    one.say(`[${rpc(1, 'ping')},${notice('notifications/x')},${rpc('b', 'ping')}]`);
    for (const id of [1, 'b']) expect((await one.answerTo(id)).error?.message).toMatch(/sallyport up/);
  });
});

describe('a restart of the daemon', () => {
  test('[BRIDGE-4] what the client follows and the level it set are asked for again, and it hears that what it follows may have changed', async () => {
    await connected();
    door.dispatch.follows = ({ uri }) => (uri === 'a:no' ? Promise.reject(new Error('no')) : Promise.resolve());
    one.say(
      rpc(1, 'resources/subscribe', { uri: 'a:b' }),
      rpc(2, 'resources/subscribe', { uri: 'a:no' }),
      rpc(3, 'resources/subscribe', { uri: 'a:left' }),
      rpc(4, 'logging/setLevel', { level: 'warning' }),
    );
    for (const id of [1, 2, 3, 4]) await one.answerTo(id);
    one.say(rpc(5, 'resources/unsubscribe', { uri: 'a:left' }));
    await one.answerTo(5);
    await restart();
    one.say(rpc(6, 'ping'));
    await one.answerTo(6);
    await expect.poll(() => door.dispatch.followed.map(({ request: { uri } }) => uri)).toEqual(['a:b']);
    expect(door.dispatch.levels).toMatchObject([{ level: 'warning' }]);
    await expect.poll(() => told('notifications/resources/updated')).toEqual([{ uri: 'a:b' }]);
    door.dispatch.followed[0]?.request.host.notify('notifications/resources/updated', '{"uri":"a:b","n":1}');
    await expect.poll(() => told('notifications/resources/updated')).toEqual([{ uri: 'a:b' }, { uri: 'a:b', n: 1 }]);
    expect(one.heard.some(({ id }) => String(id).startsWith('sallyport-bridge'))).toBe(false);
  });

  test('[BRIDGE-4] a client that begins anew has asked for nothing', async () => {
    await connected();
    one.say(rpc(1, 'resources/subscribe', { uri: 'a:b' }));
    await one.answerTo(1);
    one.say(rpc('init2', 'initialize', { protocolVersion: '2025-11-25', capabilities: {} }));
    await one.answerTo('init2');
    await restart();
    one.say(rpc(2, 'ping'));
    await one.answerTo(2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(door.dispatch.followed).toEqual([]);
  });
});

describe('clients of 2026-07-28', () => {
  const able = envelope({
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    'io.modelcontextprotocol/logLevel': 'info',
  });

  test('[BRIDGE-5] a question comes as a result, the repeated request goes on, and logs come before', async () => {
    const call: Params = { name: 'up__sure', arguments: {}, _meta: able };
    door.dispatch.tools_.set('up__sure', (asked) => {
      asked.host?.notify('notifications/message', '{"level":"info","data":"asking"}');
      return sure(asked);
    });
    one.say(statelessBody(1, 'tools/call', call));
    const { result } = (await one.answerTo(1)) as Reply;
    judged(one.heard[1] as Reply, 'tools/call');
    expect(told('notifications/message')).toEqual([{ level: 'info', data: 'asking' }]);
    const { requestState, inputRequests } = result as { requestState: string; inputRequests: object };
    expect(inputRequests).toMatchObject({ 'ask-1': { method: 'elicitation/create' } });
    const inputResponses = { 'ask-1': { action: 'decline' } };
    one.say(statelessBody(2, 'tools/call', { ...call, requestState, inputResponses }));
    expect(await one.answerTo(2)).toMatchObject({ result: { resultType: 'complete', 'x-heard': { action: 'decline' } } });
  });

  test('[BRIDGE-5] a subscription to resources outlives the daemon, and its client hears that they may have changed', async () => {
    const notifications = { resourceSubscriptions: ['a:b', 'a:c'] };
    one.say(statelessBody('s', 'subscriptions/listen', { notifications }));
    await expect.poll(() => told('notifications/subscriptions/acknowledged')).toMatchObject([{ notifications }]);
    await restart();
    await expect
      .poll(() => told('notifications/resources/updated'), { timeout: 10_000 })
      .toMatchObject([{ uri: 'a:b' }, { uri: 'a:c' }]);
    for (const message of one.heard) judged(message as Reply, '');
    expect(one.heard[1]).toMatchObject({ params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 's' } } });
  }, 15_000);

  test('[BRIDGE-5] there are no batches, nor answers, in that revision', async () => {
    one.say(statelessBody(1, 'tools/list'));
    await one.answerTo(1);
    one.say(`[${statelessBody(2, 'tools/list')}]`, answer('x'), statelessBody(3, 'tools/list'));
    await one.answerTo(3);
    expect(one.heard.slice(1).map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32600],
      [3, undefined],
    ]);
  });
});
