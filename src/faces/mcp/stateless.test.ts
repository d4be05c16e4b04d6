// Subscriptions of 2026-07-28 over real sockets: what comes on them and in which order, how many there are, and what ends them.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, openSession, openTestDoor, type TestDoor } from '../../../test/support/agent-door.ts';
import { openStream } from '../../../test/support/mcp-stream.ts';
import { rawSocket } from '../../../test/support/raw-socket.ts';
import {
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

const tools = { notifications: { toolsListChanged: true } };

async function subscribed(id: string | number, token = 'token-kimi', params: Params = tools): Promise<StatelessStream> {
  const stream = await statelessStream(door, 'subscriptions/listen', params, { id, token });
  await expect.poll(() => stream.messages.length).toBeGreaterThan(0);
  return stream;
}

function tag(id: string | number): object {
  return { 'io.modelcontextprotocol/subscriptionId': id };
}

const changed = (id: string | number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
  params: { _meta: tag(id) },
});

const over = (id: string | number): object => ({
  jsonrpc: '2.0',
  id,
  result: {
    resultType: 'complete',
    _meta: { ...tag(id), 'io.modelcontextprotocol/serverInfo': { name: 'sallyport', version: '0.0.0' } },
  },
});

test('[ERA-6] [DOOR-8] it is acknowledged first, and every notice carries the id of its own subscription', async () => {
  const one = await subscribed(1);
  const two = await subscribed('1');
  expect(one.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  expect(one.headers['mcp-session-id']).toBeUndefined();
  door.dispatch.change();
  await expect.poll(() => [one.messages.length, two.messages.length]).toEqual([2, 2]);
  expect(one.messages).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: tag(1), notifications: { toolsListChanged: true } },
    },
    changed(1),
  ]);
  expect(two.messages[1]).toEqual(changed('1'));
  expect([...one.faults, ...two.faults]).toEqual([]);
});

test('[ERA-6] only what was asked for comes: of kinds that are not served nothing is promised, and the stream is over', async () => {
  const wishes = { notifications: { promptsListChanged: true, resourceSubscriptions: ['a:b'], toolsListChanged: false } };
  const stream = await subscribed(4, 'token-kimi', wishes);
  await stream.ended;
  door.dispatch.change();
  expect(stream.messages).toEqual([
    { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta: tag(4), notifications: {} } },
    over(4),
  ]);
  expect(door.endpoint.stateless.subscriptions()).toBe(0);
});

test('[ERA-6] wishes that are none are -32602, and a client that takes no events is told so', async () => {
  expect(await statelessAsk(door, 'subscriptions/listen', { notifications: 1 })).toMatchObject({
    status: 200,
    reply: { error: { code: -32602 } },
  });
  const { status } = await statelessAsk(door, 'subscriptions/listen', tools, { headers: { accept: 'application/json' } });
  expect(status).toBe(406);
});

test('[ERA-6] a burst of changes is one notice, and a session beside hears it in its own words', async () => {
  const session = await openStream(door, await openSession(door));
  const stream = await subscribed(1);
  for (let turn = 0; turn < 20; turn += 1) door.dispatch.change();
  await expect.poll(() => session.events.length).toBe(1);
  expect(session.events).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(stream.messages.slice(1)).toEqual([changed(1)]);
  session.drop();
});

describe('the end of it', () => {
  test('[ERA-6] a client that leaves is forgotten', async () => {
    const stream = await subscribed(1);
    expect(door.endpoint.stateless.subscriptions()).toBe(1);
    stream.drop();
    await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(0);
  });

  test('[ERA-6] [DOOR-12] when the agent is suspended, revoked or rotated it ends at once with a result, and only its own', async () => {
    const mine = [await subscribed(1), await subscribed(2)];
    const other = await subscribed(1, 'token-rosa');
    const params = { name: 'up__hangs', arguments: { n: 9 } };
    const call = statelessAsk(door, 'tools/call', params, { id: 3 });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    door.agents.ended('kimi');
    await Promise.all(mine.map(({ ended }) => ended));
    expect(mine.map(({ messages }) => messages.at(-1))).toEqual([over(1), over(2)]);
    expect((await call).reply).toMatchObject({
      id: 3,
      error: { code: -32603, message: expect.stringContaining('agent') as string },
    });
    expect(door.dispatch.cancelled).toEqual([9]);
    expect(door.dispatch.ended).toEqual(['stateless:kimi']);
    expect(door.endpoint.stateless.subscriptions()).toBe(1);
    door.dispatch.change();
    await expect.poll(() => other.messages.at(-1)).toEqual(changed(1));
  });

  test('[ERA-6] when the gateway stops it ends with a result, calls may finish, and nothing new begins', async () => {
    const stream = await subscribed('last');
    let finish: (() => void) | undefined;
    door.dispatch.tools_.set(
      'up__waits',
      () => new Promise((resolve) => (finish = () => resolve({ kind: 'upstream', result: '{"content":[]}' }))),
    );
    const call = statelessAsk(door, 'tools/call', { name: 'up__waits' });
    await expect.poll(() => finish).toBeDefined();
    const closed = door.endpoint.close(5_000);
    await stream.ended;
    expect(stream.messages.at(-1)).toEqual(over('last'));
    for (const [method, params] of [
      ['subscriptions/listen', tools],
      ['tools/call', { name: 'up__echo' }],
    ] as const)
      expect((await statelessAsk(door, method, params)).reply.error).toMatchObject({
        code: -32603,
        message: expect.stringContaining('stopping') as string,
      });
    finish?.();
    expect((await call).reply).toHaveProperty('result');
    await closed;
  });

  test('[ERA-6] a gateway that waits no longer answers the calls that are left', async () => {
    const call = statelessAsk(door, 'tools/call', { name: 'up__hangs', arguments: { n: 5 } });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    await door.endpoint.close(0);
    expect((await call).reply.error).toMatchObject({ code: -32603, message: expect.stringContaining('stopping') as string });
    expect(door.dispatch.cancelled).toEqual([5]);
  });
});

test('[ERA-6] they are bounded per agent: one more is refused, and there is room again when one is gone', async () => {
  await door.close();
  door = await openTestDoor({}, { maxSubscriptions: 2 });
  const [first] = [await subscribed(1), await subscribed(2)];
  const refused = await statelessAsk(door, 'subscriptions/listen', tools);
  expect(refused).toMatchObject({
    status: 200,
    reply: { error: { code: -32603, message: expect.stringContaining('2') as string } },
  });
  await subscribed(1, 'token-rosa');
  first.drop();
  await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(2);
  await subscribed(3);
});

test('[ERA-6] a client that subscribes and does not read is cut off', async () => {
  const body = statelessBody(1, 'subscriptions/listen', tools);
  const headers = Object.entries(statelessHeaders('subscriptions/listen')).map(([name, value]) => `${name}: ${value}`);
  const peer = await rawSocket(Number(door.url.port));
  peer.socket.pause();
  peer.socket.write(
    [
      'POST /mcp HTTP/1.1',
      `Host: ${door.url.host}`,
      'Authorization: Bearer token-kimi',
      'Accept: application/json, text/event-stream',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
  await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(1);
  for (let turn = 0; turn < 200_000 && door.endpoint.stateless.subscriptions() === 1; turn += 1) {
    door.endpoint.stateless.listChanged('tools');
    if (turn % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(0);
  peer.socket.destroy();
});

test('[ERA-6] 2,000 subscriptions opened and closed leave nothing behind', async () => {
  for (let turn = 0; turn < 40; turn += 1) {
    const streams = await Promise.all(
      Array.from({ length: 50 }, (_, id) => statelessStream(door, 'subscriptions/listen', tools, { id })),
    );
    for (const stream of streams) stream.drop();
    await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(0);
  }
  expect(
    (await ask(door, { headers: statelessHeaders('server/discover'), body: statelessBody(1, 'server/discover') })).status,
  ).toBe(200);
});
