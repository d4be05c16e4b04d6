// Requests other than tool calls at the agent door, in both eras: what goes in, what comes back, what is refused how.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';
import { openStream } from '../../../test/support/mcp-stream.ts';
import { statelessAsk, statelessStream, type Reply } from '../../../test/support/stateless-agent.ts';
import { AppError } from '../../kernel/errors.ts';

let door: TestDoor;
beforeEach(async () => {
  door = await openTestDoor();
});
afterEach(() => door.close());

/** One request in a session of its own, opened after what the test set up. */
async function inSession(method: string, params: object = {}): Promise<string> {
  const session = await openSession(door);
  return (await ask(door, { body: rpc(7, method, params), headers: { 'mcp-session-id': session } })).body;
}

const errorOf = (body: string): Reply['error'] => (JSON.parse(body) as Reply).error;

test.each([
  [
    'prompts/get',
    { name: 'up__greet', arguments: { a: 1 }, extra: [1] },
    { kind: 'prompt', name: 'up__greet' },
    { a: 1 },
    { extra: [1] },
  ],
  ['resources/read', { uri: 'a:b', extra: 1 }, { kind: 'resource', uri: 'a:b' }, undefined, { extra: 1 }],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'a:{b}' }, argument: { name: 'b', value: '' } },
    { kind: 'template', uri: 'a:{b}' },
    undefined,
    { ref: { type: 'ref/resource', uri: 'a:{b}' }, argument: { name: 'b', value: '' } },
  ],
])(
  '[REL-2] %s is read alike in both eras and answered with the bytes of the upstream',
  async (method, params, target, args, rest) => {
    const meta = { progressToken: 'p', 'vendor/x': 1 };
    door.dispatch.relays = () =>
      Promise.resolve({ kind: 'upstream', result: '{"resultType":"complete","ttlMs":1,"cacheScope":"private", "x":[1.0]}' });
    expect(await inSession(method, { ...params, _meta: meta })).toBe(
      '{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":1,"cacheScope":"private", "x":[1.0]}}',
    );
    const answer = await statelessAsk(door, method, params);
    expect(answer.body).toContain('"cacheScope":"private", "x":[1.0]}');
    const [old, modern] = door.dispatch.relayed.map(({ request }) => request);
    expect(old).toMatchObject({ method, target, args, rest: { ...rest, _meta: { 'vendor/x': 1 } } });
    expect(old?.onProgress).toBeDefined();
    expect(modern).toMatchObject({ method, target, args, rest, client: { capabilities: {} } });
    expect(modern?.rest).not.toHaveProperty('_meta');
  },
);

test.each([
  ['prompts/get', {}],
  ['prompts/get', { name: 'a', arguments: [] }],
  ['resources/read', { uri: 1 }],
  ['completion/complete', { ref: { type: 'ref/tool', name: 'a' }, argument: { name: 'a', value: '' } }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'a' } }],
  ['resources/list', { cursor: 1 }],
])('[REL-7] %s with %j is -32602 and goes nowhere', async (method, params) => {
  expect(errorOf(await inSession(method, params))?.code).toBe(-32602);
  expect(door.dispatch.relayed).toEqual([]);
});

test('[REL-7] a URI that names nothing is -32002 in a session and -32602 without one, with the URI in its data', async () => {
  const unknown = new AppError('invalid', 'gateway.unknown_resource', 'Resource not found', { data: { uri: 'a:b' } });
  door.dispatch.relays = () => Promise.reject(unknown);
  expect(errorOf(await inSession('resources/read', { uri: 'a:b' }))).toEqual({
    code: -32002,
    message: 'Resource not found',
    data: { uri: 'a:b' },
  });
  const { reply } = await statelessAsk(door, 'resources/read', { uri: 'a:b' });
  expect(reply.error).toEqual({ code: -32602, message: 'Resource not found', data: { uri: 'a:b' } });
});

test('[REL-7] a refusal is an error that says what to do next, and what broke inside stays inside', async () => {
  const denied = new AppError('denied', 'approvals.pending', "ERROR: Capability 'a:prompt:b' not granted.", {
    hint: 'Ask the human.',
  });
  door.dispatch.relays = () => Promise.reject(denied);
  expect(errorOf(await inSession('prompts/get', { name: 'b' }))).toEqual({
    code: -32000,
    message: "ERROR: Capability 'a:prompt:b' not granted.",
    data: { kind: 'missing_scope', next_action: 'request_capability', next_step: 'Ask the human.' },
  });
  door.dispatch.relays = () =>
    Promise.reject(new AppError('invalid', 'gateway.bad_uri', "The URI holds a '..'.", { hint: 'Write it plainly.' }));
  expect(errorOf(await inSession('resources/read', { uri: 'a:..' }))).toEqual({
    code: -32602,
    message: "The URI holds a '..'. Write it plainly.",
  });
  door.dispatch.relays = () => Promise.reject(new Error('/var/secret.sock'));
  const { reply } = await statelessAsk(door, 'prompts/get', { name: 'b' });
  expect(reply.error?.code).toBe(-32603);
  expect(JSON.stringify(reply)).not.toContain('secret');
});

test.each([
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const)('[REL-1] %s gives what the gateway lists, page by page, every byte as it was', async (method, list) => {
  const member = { prompts: 'name', resources: 'name":"n","uri', resourceTemplates: 'name":"n","uriTemplate' }[list];
  const entries = Array.from({ length: 150 }, (_, n) => `{ "${member}":"a:${n}" ,"x":1.0}`);
  door.dispatch.offered = { [list]: entries };
  const first = await inSession(method);
  expect(first).toContain(`"${list}":[${entries.slice(0, 100).join(',')}]`);
  const { nextCursor } = (JSON.parse(first) as { result: { nextCursor: string } }).result;
  expect(await inSession(method, { cursor: nextCursor })).toContain(`"${list}":[${entries.slice(100).join(',')}]`);
  const { reply } = await statelessAsk(door, method, {});
  expect(reply.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', nextCursor });
});

test('[REL-9] a session is told what there is, and hears of exactly those lists', async () => {
  door.dispatch.has = { prompts: true, resources: false, completions: true, logging: false, subscriptions: false };
  const session = await openSession(door);
  const { reply } = await statelessAsk(door, 'server/discover');
  expect(reply.result?.['capabilities']).toEqual({ tools: { listChanged: true }, prompts: { listChanged: true }, completions: {} });
  const stream = await openStream(door, session);
  for (const list of ['resources', 'prompts', 'prompts'] as const) door.dispatch.change(list);
  await expect.poll(() => stream.events.length).toBe(1);
  expect(stream.events).toEqual([{ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' }]);
});

test('[REL-9] a subscription is promised the lists that there are, and gets no other', async () => {
  door.dispatch.has = { prompts: false, resources: true, completions: false, logging: false, subscriptions: false };
  const wishes = { promptsListChanged: true, resourcesListChanged: true };
  const stream = await statelessStream(door, 'subscriptions/listen', { notifications: wishes }, { id: 9 });
  await expect.poll(() => stream.messages.length).toBe(1);
  expect(stream.messages[0]?.params?.['notifications']).toEqual({ resourcesListChanged: true });
  for (const list of ['tools', 'prompts', 'resources'] as const) door.dispatch.change(list);
  await expect.poll(() => stream.messages.length).toBe(2);
  expect(stream.messages[1]?.method).toBe('notifications/resources/list_changed');
  expect(stream.faults).toEqual([]);
  stream.drop();
});
