// Calls that go on as tasks, through the gateway: whose they are, what is asked about them, and how they end. Attackers included.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { oddCreation, oddResult, oddTask } from '../../../test/fixtures/task-server.ts';
import { fixtureCommand } from '../../../test/support/fixture-upstream.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { RelayAnswer, RelayRequest, ToolAnswer, ToolCall, ToolScope } from '../../kernel/dispatch.ts';
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { mostTasks } from './owned-tasks.ts';

const policies = (deny = '', redact = ''): string => `
version: 1
limits: { deny: ['hidden:*:*'${deny}], rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: 'asks:call:job', effect: ask, ttl: 5m }
      - { match: 'masked:call:job', effect: allow, redact: [email] }
      - { match: '{a,b,plain,masked,own,asks,each}:call:*', effect: allow${redact} }
`;

const all: ToolScope = { kind: 'all' };
const at = (upstream: string): ToolScope => ({ kind: 'upstream', upstream });

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({
    policies: policies(),
    upstreams: {
      a: ['tasks', 'a'],
      b: ['tasks', 'b'],
      masked: ['tasks', 'm'],
      asks: ['tasks', 'q'],
      hidden: ['tasks', 'h'],
      own: ['tasks', 'b'],
      plain: ['echo'],
    },
  });
});
afterAll(() => house.close());

const begin = (kimi: HouseAgent, upstream = 'a', more: Partial<ToolCall> = {}): Promise<ToolAnswer> =>
  kimi.call(`${upstream}__job`, { what: 'x' }, { rest: { task: {} }, ...more });

/** Begins one, and gives its id. */
async function task(kimi: HouseAgent, upstream = 'a', more: Partial<ToolCall> = {}): Promise<string> {
  const answer = await begin(kimi, upstream, more);
  if (answer.kind !== 'upstream') throw new Error(JSON.stringify(answer));
  return (JSON.parse(answer.result) as { task: { taskId: string } }).task.taskId;
}

function ask({ caller }: HouseAgent, method: string, id: string, more: Partial<RelayRequest> = {}): Promise<RelayAnswer> {
  return house.dispatch.relay(caller, {
    method,
    target: { kind: 'task', id },
    scope: all,
    args: undefined,
    rest: {},
    signal: new AbortController().signal,
    onProgress: undefined,
    ...more,
  });
}

async function list(kimi: HouseAgent, scope: ToolScope = all, cursor?: string): Promise<JsonObject> {
  const answer = await ask(kimi, 'tasks/list', '', { target: { kind: 'tasks', cursor }, scope });
  if (answer.kind !== 'upstream') throw new Error(JSON.stringify(answer));
  return JSON.parse(answer.result) as JsonObject;
}

async function allListed(kimi: HouseAgent, scope: ToolScope = all): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = (await list(kimi, scope, cursor)) as { tasks: { taskId: string }[]; nextCursor?: string };
    found.push(...page.tasks.map(({ taskId }) => taskId));
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
}

function refusal(kimi: HouseAgent, method: string, id: string, more?: Partial<RelayRequest>): Promise<AppError> {
  return ask(kimi, method, id, more).then(
    (answer) => {
      throw new Error(`it passed: ${JSON.stringify(answer)}`);
    },
    (thrown: unknown) => asAppError(thrown),
  );
}

const asked = async (kimi: HouseAgent, upstream = 'a'): Promise<string[]> =>
  JSON.parse(await kimi.text(`${upstream}__asked`)) as string[];

/** A client that keeps what it is told of tasks. */
function listener(heard: string[]): ClientHost {
  return {
    capabilities: {},
    info: undefined,
    ask: () => Promise.reject(new Error('nobody asks this client')),
    notify: (method, params = '') => void (method === 'notifications/tasks/status' && heard.push(params)),
  };
}

const recorded = async ({ caller }: HouseAgent): Promise<JsonObject[]> =>
  (await house.records())
    .filter(({ actor, event }) => actor === `agent:${caller.agent}` && /^(call|task)\./.test(event))
    .map(({ event, facts = {} }) => ({ event, ...facts }));

test('[TASK-1] [TASK-2] a call goes on as a task, and everything about it comes back byte for byte', async () => {
  const kimi = await house.agent();
  const answer = await begin(kimi, 'a', { rest: { task: { ttl: 90_000, 'x-kept': 1 } } });
  const id = (JSON.parse((answer as { result: string }).result) as { task: { taskId: string } }).task.taskId;
  expect(answer).toEqual({ kind: 'upstream', result: oddCreation(id, 90_000) });
  expect(await ask(kimi, 'tasks/get', id)).toEqual({ kind: 'upstream', result: oddTask(id, 'working', 90_000) });
  const waiting = ask(kimi, 'tasks/result', id, { scope: at('a') });
  await kimi.call('a__finish', { id });
  expect(await waiting).toEqual({ kind: 'upstream', result: oddResult(id) });
  expect(await ask(kimi, 'tasks/get', id)).toEqual({ kind: 'upstream', result: oddTask(id, 'completed', 90_000) });
});

test('[TASK-1] an upstream that does not speak of tasks is told nothing of them, and neither is one of 2025 by a client of 2026', async () => {
  const kimi = await house.agent();
  const rest = { task: { ttl: 1 }, other: [1] };
  expect(JSON.parse(await kimi.text('plain__params', {}, { rest }))).toEqual({ name: 'params', arguments: {}, other: [1] });
  const client = { capabilities: {}, info: undefined, logLevel: undefined };
  expect(await kimi.text('a__job', {}, { rest, client })).toBe('job');
});

test('[TASK-3] the task of another agent is one that does not exist, whatever is asked, and its upstream is not', async () => {
  const [kimi, thief] = [await house.agent(), await house.agent()];
  const id = await task(kimi);
  await task(thief, 'b');
  const before = await asked(kimi);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
    for (const scope of [all, at('a'), at('b')]) {
      const [foreign, unknown] = [await refusal(thief, method, id, { scope }), await refusal(thief, method, 'nothing', { scope })];
      expect(foreign).toMatchObject({ code: 'gateway.unknown_task', kind: 'invalid' });
      expect([foreign.message, foreign.hint, foreign.data]).toEqual([unknown.message, unknown.hint, unknown.data]);
    }
  }
  expect(await asked(kimi)).toEqual(before);
  // Its owner does not find it where it is not either.
  expect(await refusal(kimi, 'tasks/get', id, { scope: at('b') })).toMatchObject({ code: 'gateway.unknown_task' });
  expect(await ask(kimi, 'tasks/get', id)).toMatchObject({ kind: 'upstream' });
});

test('[TASK-3] a list holds the caller’s own, over every page of every upstream, and asks nobody where there is nothing', async () => {
  const [kimi, other, idle] = [await house.agent(), await house.agent(), await house.agent()];
  const mine = [await task(kimi), await task(kimi, 'b')];
  const theirs = [await task(other), await task(other, 'b')];
  mine.push(await task(kimi));
  expect((await allListed(kimi)).toSorted()).toEqual(mine.toSorted());
  expect((await allListed(other)).toSorted()).toEqual(theirs.toSorted());
  expect(await allListed(kimi, at('b'))).toEqual([mine[1]]);
  const before = await asked(kimi);
  expect(await list(idle)).toEqual({ tasks: [] });
  expect(await list(idle, at('hidden'))).toEqual(await list(idle, at('nobody')));
  expect(await asked(kimi)).toEqual(before);
  expect(await refusal(kimi, 'tasks/list', '', { target: { kind: 'tasks', cursor: 'nonsense' } })).toMatchObject({
    code: 'gateway.misuse',
  });
  expect(await list(kimi, all, 'nobody:1')).toEqual({ tasks: [] });
});

test('[TASK-4] a person who agreed to the call is not asked about its task again', async () => {
  const kimi = await house.agent();
  await expect(begin(kimi, 'asks')).rejects.toMatchObject({ code: 'approvals.pending' });
  const [question] = await house.open(kimi);
  await house.approve(question?.approval_id ?? '');
  const id = await task(kimi, 'asks');
  expect(await ask(kimi, 'tasks/get', id)).toMatchObject({ kind: 'upstream' });
  expect(await ask(kimi, 'tasks/cancel', id)).toMatchObject({ kind: 'upstream' });
  expect(await house.open(kimi)).toEqual([]);
});

test('[TASK-4] what rules redact of the call is masked in what is asked later, and a new rule masks as well', async () => {
  const kimi = await house.agent();
  const heard: string[] = [];
  const host = listener(heard);
  const id = await task(kimi, 'masked', { host });
  const later = await task(kimi);
  await kimi.call('masked__finish', { id });
  const answers = [await ask(kimi, 'tasks/get', id), await ask(kimi, 'tasks/result', id), await list(kimi, at('masked'))];
  expect(JSON.stringify([answers, heard])).not.toContain('ada@example.com');
  expect(heard).toHaveLength(1);
  expect(JSON.stringify(await ask(kimi, 'tasks/get', later))).toContain('ada@example.com');
  await house.adopt(policies('', ', redact: [email]'));
  expect(JSON.stringify(await ask(kimi, 'tasks/get', later))).not.toContain('ada@example.com');
  await house.adopt(policies());
});

test('[TASK-4] a new deny bites at once: nothing is asked, told or listed of the task any more', async () => {
  const kimi = await house.agent();
  const [id, kept] = [await task(kimi), await task(kimi, 'b')];
  await house.adopt(policies(", 'a:call:job'"));
  const before = await asked(kimi);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    expect(await refusal(kimi, method, id)).toMatchObject({ code: 'policy.denied' });
  expect(await allListed(kimi)).toEqual([kept]);
  expect(await asked(kimi)).toEqual(before);
  await house.adopt(policies());
  expect(await ask(kimi, 'tasks/get', id)).toMatchObject({ kind: 'upstream' });
});

test('[TASK-4] a suspended agent is told nothing', async () => {
  const kimi = await house.agent();
  const id = await task(kimi);
  await house.local('agents.suspend', { name: kimi.caller.agent });
  expect(await refusal(kimi, 'tasks/get', id)).toMatchObject({ code: 'agents.suspended' });
});

test('[TASK-5] call, questions and end are on the record, the end once', async () => {
  const kimi = await house.agent();
  const id = await task(kimi);
  await ask(kimi, 'tasks/get', id);
  await kimi.call('a__finish', { id });
  await ask(kimi, 'tasks/result', id);
  await ask(kimi, 'tasks/get', id);
  const records = await recorded(kimi);
  const intents = records.filter(({ event }) => event === 'call.intent');
  expect(intents.map(({ capability, method }) => [capability, method])).toEqual([
    ['a:call:job', undefined],
    ['a:call:job', 'tasks/get'],
    ['a:call:finish', undefined],
    ['a:call:job', 'tasks/result'],
    ['a:call:job', 'tasks/get'],
  ]);
  const created = (await house.records('call.intent')).find(
    ({ actor, facts }) => actor === `agent:${kimi.caller.agent}` && facts?.['capability'] === 'a:call:job',
  );
  expect(records.filter(({ event }) => event === 'task.ended')).toEqual([
    { event: 'task.ended', capability: 'a:call:job', intent: created?.id, status: 'completed' },
  ]);
  expect(house.recordText()).not.toContain(`"${id}"`);
});

test('[TASK-6] an id that is given again is the task of who got it last, and nobody else’s', async () => {
  const [kimi, other] = [await house.agent(), await house.agent()];
  await kimi.call('a__again');
  const id = await task(kimi);
  await kimi.call('a__again');
  expect(await task(other)).toBe(id);
  expect(await refusal(kimi, 'tasks/get', id)).toMatchObject({ code: 'gateway.unknown_task' });
  expect(await ask(other, 'tasks/get', id)).toMatchObject({ kind: 'upstream' });
  expect((await recorded(kimi)).filter(({ event }) => event === 'task.ended')).toMatchObject([{ status: 'reissued' }]);
});

test('[TASK-7] an id of two upstreams keeps meaning the earlier task at /mcp, and the later one is said to be elsewhere', async () => {
  const kimi = await house.agent();
  await kimi.call('b__again');
  const id = await task(kimi, 'b');
  await expect(begin(kimi, 'own')).rejects.toMatchObject({
    code: 'gateway.task_id_taken',
    message: expect.stringContaining('/mcp/upstreams/own') as string,
  });
  await kimi.call('own__finish', { id });
  expect(await ask(kimi, 'tasks/get', id)).toEqual({ kind: 'upstream', result: oddTask(id, 'working') });
  expect(await ask(kimi, 'tasks/get', id, { scope: at('own') })).toEqual({ kind: 'upstream', result: oddTask(id, 'completed') });
});

test('[TASK-6] what an upstream process kept ends with it: its successor’s ids lead nobody to the task of another', async () => {
  const [kimi, other] = [await house.agent(), await house.agent()];
  await kimi.call('masked__again');
  const id = await task(kimi, 'masked');
  await kimi.call('masked__exit').catch(() => undefined);
  await vi.waitFor(async () => expect(await task(other, 'masked')).toBe(id), { timeout: 10_000 });
  expect(await refusal(kimi, 'tasks/get', id)).toMatchObject({ code: 'gateway.unknown_task' });
  expect((await recorded(kimi)).filter(({ event }) => event === 'task.ended')).toMatchObject([{ status: 'lost' }]);
});

test('[TASK-8] tasks are declared where something reachable has them, and are no method elsewhere', async () => {
  const kimi = await house.agent();
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  expect(house.dispatch.offering(kimi.caller, all)).toMatchObject({ sessionTasks: tasks });
  expect(house.dispatch.offering(kimi.caller, at('a'))).toMatchObject({ sessionTasks: tasks });
  for (const upstream of ['plain', 'hidden', 'nobody']) {
    expect(house.dispatch.offering(kimi.caller, at(upstream))).not.toHaveProperty('sessionTasks');
    expect(await refusal(kimi, 'tasks/get', 'x', { scope: at(upstream) })).toMatchObject({ code: 'gateway.unknown_method' });
  }
  expect(house.dispatch.offering(kimi.caller, all)).not.toHaveProperty('extensionTasks');
});

test('[TASK-10] how a task goes is told to the client whose call it was, in the bytes of its upstream, and to nobody else', async () => {
  const [kimi, other] = [await house.agent(), await house.agent()];
  const [mine, theirs]: [string[], string[]] = [[], []];
  const id = await task(kimi, 'a', { host: listener(mine) });
  await task(other, 'a', { host: listener(theirs) });
  await other.call('a__finish', { id });
  expect(mine).toEqual([oddTask(id, 'completed')]);
  expect(theirs).toEqual([]);
});

test('[TASK-3] [TASK-6] [TASK-10] where an upstream keeps sessions apart a task is of its session alone, and ends with it', async () => {
  const one = await house.agent();
  const other: HouseAgent = { ...one, caller: { ...one.caller, session: 'another' } };
  const call = async (who: HouseAgent, name: string, args: JsonObject, more: Partial<ToolCall> = {}): Promise<ToolAnswer> =>
    house.dispatch.callTool(who.caller, {
      name: `each__${name}`,
      args,
      scope: all,
      rest: {},
      signal: new AbortController().signal,
      onProgress: undefined,
      ...more,
    });
  await house.decide('fleet.add', { name: 'each', run: fixtureCommand('tasks', 'e'), sharing: 'session' });
  const [mine, theirs]: [string[], string[]] = [[], []];
  // Both processes count from one.
  expect(await call(one, 'job', {}, { rest: { task: {} }, host: listener(mine) })).toMatchObject({ result: oddCreation('e1') });
  expect(await refusal(other, 'tasks/get', 'e1')).toMatchObject({ code: 'gateway.unknown_task' });
  expect(await list(other)).toEqual({ tasks: [] });
  expect(await call(other, 'job', {}, { rest: { task: {} }, host: listener(theirs) })).toMatchObject({ result: oddCreation('e1') });
  await call(one, 'finish', { id: 'e1' });
  expect([mine, theirs]).toEqual([[oddTask('e1', 'completed')], []]);
  expect(await ask(one, 'tasks/get', 'e1')).toEqual({ kind: 'upstream', result: oddTask('e1', 'completed') });
  expect(await ask(other, 'tasks/get', 'e1')).toEqual({ kind: 'upstream', result: oddTask('e1', 'working') });
  house.dispatch.sessionEnded('another');
  expect(await refusal(other, 'tasks/get', 'e1')).toMatchObject({ code: 'gateway.unknown_task' });
  expect((await recorded(one)).filter(({ event }) => event === 'task.ended')).toMatchObject([
    { status: 'completed' },
    { status: 'lost' },
  ]);
});

test('[TASK-9] an agent with as many tasks as it may begins no further one, and nothing is sent', async () => {
  const kimi = await house.agent();
  const ids: string[] = [];
  for (let n = 0; n < mostTasks; n += 1) ids.push(await task(kimi));
  await expect(begin(kimi)).rejects.toMatchObject({ code: 'gateway.too_many_tasks', kind: 'limited' });
  await ask(kimi, 'tasks/cancel', ids[0] ?? '');
  expect(await task(kimi)).not.toBe('');
  // One that does not ask to be a task is none.
  expect(await kimi.text('a__job')).toBe('job');
});
