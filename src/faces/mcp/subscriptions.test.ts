// Subscriptions of 2026-07-28 to single resources, over real sockets: what is promised, who hears of what, and what is left behind.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestDoor, type TestDoor } from '../../../test/support/agent-door.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { statelessStream, type StatelessStream } from '../../../test/support/stateless-agent.ts';
import { agreementMs } from './subscriptions.ts';

let door: TestDoor;

beforeEach(async () => {
  door = await openTestDoor();
  offers();
});

afterEach(() => door.close());

function offers(): void {
  door.dispatch.has = { prompts: false, resources: true, completions: false, logging: false, subscriptions: true };
}

async function listen(id: number | string, uris: readonly string[], more: object = {}, token?: string): Promise<StatelessStream> {
  const notifications = { resourceSubscriptions: uris, ...more };
  const stream = await statelessStream(
    door,
    'subscriptions/listen',
    { notifications },
    { id, ...(token === undefined ? {} : { token }) },
  );
  await expect.poll(() => stream.messages.length).toBeGreaterThan(0);
  return stream;
}

/** As the gateway tells the host that follows it. */
function update(uri: string, more = '', at = 0): void {
  door.dispatch.followed[at]?.request.host.notify('notifications/resources/updated', `{"uri":"${uri}"${more}}`);
}

function promised({ messages }: StatelessStream): unknown {
  return messages[0]?.params?.['notifications'];
}

function told({ messages }: StatelessStream): unknown[] {
  return messages.slice(1).map(({ params }) => params?.['uri']);
}

test('[ERA-12] what the gateway agrees to is promised, what it refuses is left out, and updates carry the id of the subscription', async () => {
  door.dispatch.follows = ({ uri }) => (uri === 'a:no' ? Promise.reject(new Error('no')) : Promise.resolve());
  const stream = await listen('s', ['a:b', 'a:no', 'a:c'], { toolsListChanged: true });
  expect(promised(stream)).toEqual({ toolsListChanged: true, resourceSubscriptions: ['a:b', 'a:c'] });
  update('a:b', ',"_meta":{"x/y":1},"own":1.5');
  await expect.poll(() => stream.messages.length).toBe(2);
  expect(stream.messages[1]).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'a:b', own: 1.5, _meta: { 'x/y': 1, 'io.modelcontextprotocol/subscriptionId': 's' } },
  });
  expect(stream.faults).toEqual([]);
});

test('[ERA-12] where nothing is agreed to, the subscription is acknowledged and over', async () => {
  door.dispatch.follows = () => Promise.reject(new Error('no'));
  const stream = await listen(1, ['a:b']);
  await stream.ended;
  expect(promised(stream)).toEqual({});
  expect(stream.messages[1]).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  expect(door.dispatch.unfollowed).toEqual([]);
});

test('[ERA-12] what happens before it can be acknowledged comes after the acknowledgement, each thing once', async () => {
  let agree: (() => void) | undefined;
  door.dispatch.follows = () => new Promise((resolve) => (agree = resolve));
  const opening = statelessStream(
    door,
    'subscriptions/listen',
    { notifications: { resourceSubscriptions: ['a:b'], toolsListChanged: true } },
    { id: 1 },
  );
  await expect.poll(() => agree).toBeDefined();
  for (let turn = 0; turn < 3; turn += 1) update('a:b');
  door.endpoint.stateless.listChanged('tools');
  agree?.();
  const stream = await opening;
  await expect.poll(() => stream.messages.length).toBe(3);
  expect(stream.messages.map(({ method }) => method)).toEqual([
    'notifications/subscriptions/acknowledged',
    'notifications/resources/updated',
    'notifications/tools/list_changed',
  ]);
});

test('[ERA-12] an upstream that does not say whether it agrees holds nobody up, and is not followed', async () => {
  await door.close();
  const clock = createFakeClock();
  door = await openTestDoor({}, { clock });
  offers();
  door.dispatch.follows = ({ uri }) => (uri === 'a:slow' ? new Promise(() => undefined) : Promise.resolve());
  const opening = statelessStream(
    door,
    'subscriptions/listen',
    { notifications: { resourceSubscriptions: ['a:slow', 'a:b'] } },
    { id: 1 },
  );
  await expect.poll(() => door.dispatch.followed.length).toBe(2);
  clock.advance(agreementMs);
  const stream = await opening;
  await expect.poll(() => stream.messages.length).toBe(1);
  expect(promised(stream)).toEqual({ resourceSubscriptions: ['a:b'] });
  expect(door.dispatch.followed.map(({ request: { signal } }) => signal.aborted)).toEqual([true, false]);
});

test('[ERA-12] what merely begins alike is no part of what a subscription is to', async () => {
  const [one, two] = [await listen(1, ['a:dir']), await listen(2, ['a:dirt'])];
  for (const uri of ['a:dirt/x', 'a:dir/x']) update(uri);
  await expect.poll(() => [one, two].map(told)).toEqual([['a:dir/x'], ['a:dirt/x']]);
});

test('[ERA-12] a resource is followed once for all subscriptions of a caller, each hears of its own, until the last is gone', async () => {
  const one = await listen(1, ['a:b', 'a:c']);
  const two = await listen(2, ['a:b', 'a:d']);
  const other = await listen(1, ['a:b'], {}, 'token-rosa');
  expect(door.dispatch.followed.map(({ caller, request }) => [caller.session, request.uri])).toEqual([
    ['stateless:kimi', 'a:b'],
    ['stateless:kimi', 'a:c'],
    ['stateless:kimi', 'a:d'],
    ['stateless:rosa', 'a:b'],
  ]);
  update('a:b');
  update('a:b/part');
  update('a:d');
  update('x:y');
  await expect
    .poll(() => [one, two].map(told))
    .toEqual([
      ['a:b', 'a:b/part'],
      ['a:b', 'a:b/part', 'a:d'],
    ]);
  one.drop();
  await expect.poll(() => door.dispatch.unfollowed.map(({ uri }) => uri)).toEqual(['a:c']);
  update('a:b');
  await expect.poll(() => told(two).length).toBe(4);
  two.drop();
  await expect.poll(() => door.dispatch.unfollowed.map(({ uri }) => uri).toSorted()).toEqual(['a:b', 'a:c', 'a:d']);
  for (const { host } of door.dispatch.unfollowed) expect(host).toBe(door.dispatch.followed[0]?.request.host);
  expect(told(other)).toEqual([]);
});

test('[ERA-12] a client that leaves while it waits takes its wish back, and agreement that comes too late is given back', async () => {
  let agree: (() => void) | undefined;
  door.dispatch.follows = () => new Promise((resolve) => (agree = resolve));
  const opening = statelessStream(door, 'subscriptions/listen', {
    notifications: { resourceSubscriptions: ['a:b'], toolsListChanged: true },
  });
  await expect.poll(() => agree).toBeDefined();
  // A stream opens with its first message; a sign of life is one.
  door.endpoint.stateless.keepAlive();
  (await opening).drop();
  await expect.poll(() => door.dispatch.followed[0]?.request.signal.aborted).toBe(true);
  agree?.();
  await expect.poll(() => door.dispatch.unfollowed.map(({ uri }) => uri)).toEqual(['a:b']);
  expect(door.endpoint.stateless.subscriptions()).toBe(0);
});

test('[ERA-12] [DOOR-12] the end of the agent, and of the gateway, ends what was followed', async () => {
  const mine = await listen(1, ['a:b']);
  const other = await listen(1, ['a:c'], {}, 'token-rosa');
  door.agents.ended('kimi');
  await mine.ended;
  expect(mine.messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  await expect.poll(() => door.dispatch.unfollowed.map(({ uri }) => uri)).toEqual(['a:b']);
  await door.endpoint.close(0);
  await other.ended;
  await expect.poll(() => door.dispatch.unfollowed.map(({ uri }) => uri)).toEqual(['a:b', 'a:c']);
});

test('[ERA-12] whoever follows cannot ask the client, and tells it of nothing but updates', async () => {
  const stream = await listen(1, ['a:b']);
  const { host, signal } = door.dispatch.followed[0]!.request;
  await expect(host.ask({ method: 'roots/list', params: undefined, signal })).rejects.toMatchObject({ code: 'host.gone' });
  host.notify('notifications/message', '{"level":"error","data":"a:b"}');
  host.notify('notifications/resources/updated', undefined);
  host.notify('notifications/resources/updated', '{"uri":1}');
  update('a:b');
  await expect.poll(() => told(stream)).toEqual(['a:b']);
});
