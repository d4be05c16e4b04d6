// What is asked about tasks at the agent door, in both revisions that have them, and how they are declared there.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';
import { schemaFaults } from '../../../test/support/mcp-schema.ts';
import { envelope, statelessAsk, type Params, type Reply, type StatelessAnswer } from '../../../test/support/stateless-agent.ts';
import { AppError } from '../../kernel/errors.ts';

const extension = 'io.modelcontextprotocol/tasks';
const extensions = { [extension]: {} };
const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
const task =
  '{ "taskId":"t","status":"working","createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z","ttl":1, "x":[1.0]}';

let door: TestDoor;
beforeEach(async () => {
  door = await openTestDoor();
  door.dispatch.relays = () => Promise.resolve({ kind: 'upstream', result: task });
});
afterEach(() => door.close());

async function inSession(method: string, params: object = {}): Promise<Reply> {
  const session = await openSession(door);
  const { body } = await ask(door, { body: rpc(7, method, params), headers: { 'mcp-session-id': session } });
  return JSON.parse(body) as Reply;
}

/** As a client that declares the extension. */
function alone(method: string, params: Params, headers = {}): Promise<StatelessAnswer> {
  const _meta = envelope({ 'io.modelcontextprotocol/clientCapabilities': { extensions } });
  return statelessAsk(door, method, { ...params, _meta }, { headers });
}

const targets = (): unknown[] => door.dispatch.relayed.map(({ request }) => [request.method, request.target, request.rest]);

test('[TASK-2] a session asks about a task by its id, and is answered with the bytes there are', async () => {
  const session = await openSession(door);
  const params = { taskId: 't', extra: [1] };
  const { body } = await ask(door, { body: rpc(7, 'tasks/get', params), headers: { 'mcp-session-id': session } });
  expect(body).toBe(`{"jsonrpc":"2.0","id":7,"result":${task}}`);
  expect(schemaFaults('2025-11-25', 'GetTaskResult', JSON.parse(task))).toEqual([]);
  for (const method of ['tasks/result', 'tasks/cancel']) await inSession(method, params);
  await inSession('tasks/list', { cursor: 'c', extra: 1 });
  await inSession('tasks/list');
  const about = { kind: 'task', id: 't' };
  expect(targets()).toEqual([
    ['tasks/get', about, { extra: [1] }],
    ['tasks/result', about, { extra: [1] }],
    ['tasks/cancel', about, { extra: [1] }],
    ['tasks/list', { kind: 'tasks', cursor: 'c' }, { extra: 1 }],
    ['tasks/list', { kind: 'tasks', cursor: undefined }, {}],
  ]);
});

test('[TASK-2] a client of 2026 asks alike, its answers to a task included, and hears that the result is complete', async () => {
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const { body } = await alone(method, { taskId: 't', inputResponses: { a: { action: 'decline' } } });
    expect(body).toBe(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",${task.slice(1)}}`);
  }
  expect(targets()[1]).toEqual(['tasks/update', { kind: 'task', id: 't' }, { inputResponses: { a: { action: 'decline' } } }]);
});

test.each([
  ['tasks/get', {}],
  ['tasks/result', { taskId: 1 }],
  ['tasks/cancel', { taskId: null }],
  ['tasks/list', { cursor: 1 }],
])('[TASK-2] %s with %j is -32602, and nobody is asked', async (method, params) => {
  expect((await inSession(method, params)).error).toMatchObject({ code: -32602 });
  expect(door.dispatch.relayed).toEqual([]);
});

test('[TASK-3] a task that is not there is -32602 in both revisions', async () => {
  door.dispatch.relays = () => Promise.reject(new AppError('invalid', 'gateway.unknown_task', 'There is no such task.'));
  expect((await inSession('tasks/get', { taskId: 't' })).error).toEqual({ code: -32602, message: 'There is no such task.' });
  expect((await alone('tasks/get', { taskId: 't' })).reply.error).toMatchObject({ code: -32602 });
});

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  '[TASK-8] %s of a client that did not declare the extension is 400 and -32021, which says what to declare',
  async (method) => {
    const { status, reply } = await statelessAsk(door, method, { taskId: 't' });
    expect(status).toBe(400);
    expect(reply.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions } } });
    expect(door.dispatch.relayed).toEqual([]);
  },
);

test('[TASK-8] the header has to name the task of the body', async () => {
  for (const name of [undefined, 'u']) {
    const { status, reply } = await alone('tasks/get', { taskId: 't' }, { 'mcp-name': name });
    expect([status, reply.error?.code]).toEqual([400, -32020]);
  }
  expect(door.dispatch.relayed).toEqual([]);
});

test('[TASK-8] a list and a wait for the result are no methods of 2026', async () => {
  for (const method of ['tasks/list', 'tasks/result']) expect(await alone(method, { taskId: 't' })).toMatchObject({ status: 404 });
});

test('[TASK-8] tasks are declared as the revision of the client has them, and to earlier ones not at all', async () => {
  door.dispatch.has = { ...door.dispatch.has, sessionTasks: tasks, extensionTasks: {} };
  const declared = async (version: string): Promise<unknown> => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    const { body } = await ask(door, { body: rpc(1, 'initialize', params) });
    return (JSON.parse(body) as Reply).result?.['capabilities'];
  };
  expect(await declared('2025-11-25')).toMatchObject({ tasks });
  for (const version of ['2025-06-18', '2025-03-26']) expect(await declared(version)).not.toHaveProperty('tasks');
  expect(await declared('2025-11-25')).not.toHaveProperty('extensions');
  const { reply } = await statelessAsk(door, 'server/discover');
  expect(reply.result?.['capabilities']).toMatchObject({ extensions });
  expect(reply.result?.['capabilities']).not.toHaveProperty('tasks');
  door.dispatch.has = { ...door.dispatch.has, sessionTasks: undefined, extensionTasks: undefined } as never;
  expect(await declared('2025-11-25')).not.toHaveProperty('tasks');
});

test('[TASK-8] what an upstream declares beside tasks stays beside them at its own endpoint', async () => {
  const capabilities = { tools: {}, tasks: { list: {}, vendor: 1 }, extensions: { 'vendor/x': { a: 1 }, [extension]: { b: 1 } } };
  const upstream = { serverInfo: { name: 'u', version: '1' }, instructions: undefined, capabilities };
  door.dispatch.has = { ...door.dispatch.has, upstream, extensionTasks: { b: 1 } };
  const { reply } = await statelessAsk(door, 'server/discover', {}, { path: '/mcp/upstreams/u' });
  expect(reply.result?.['capabilities']).toMatchObject({ extensions: { 'vendor/x': { a: 1 }, [extension]: { b: 1 } } });
  expect(reply.result?.['capabilities']).not.toHaveProperty('tasks');
});
