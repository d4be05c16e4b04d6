// Tasks of the 2026 extension through the gateway, at an upstream over HTTP that keeps no sessions: made where the upstream decides so,
// asking in the middle, and answered.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpFixture } from '../../../test/fixtures/http-fixture.ts';
import { startHttpFixture } from '../../../test/fixtures/http-server.ts';
import type { Message } from '../../../test/fixtures/stdio-server.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { ClientFacts, RelayAnswer, ToolScope } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = (deny = ''): string => `
version: 1
limits: { deny: [${deny}], rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: 'modern:*:*', effect: allow }
`;
const extensions = { 'io.modelcontextprotocol/tasks': {} };
const client: ClientFacts = { capabilities: { extensions, elicitation: {}, roots: {} }, info: undefined, logLevel: undefined };
const all: ToolScope = { kind: 'all' };

const created =
  '{"resultType":"task", "taskId":"t-1","status":"working","createdAt":"2026-07-28T00:00:00Z","ttlMs":60000,"x":[1.0]}';
const waiting = `{"resultType":"complete","taskId":"t-1","status":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Sure?"}}}, "x":1.50}`;
const done = '{"resultType":"complete","taskId":"t-1","status":"completed","result":{"content":[],"resultType":"complete"}}';

let house: GatewayHouse;
let upstream: HttpFixture;
let state = waiting;
const updates: unknown[] = [];

beforeAll(async () => {
  upstream = await startHttpFixture({
    era: 'stateless',
    gate({ message }) {
      const result = message === undefined ? undefined : answered(message);
      if (result === undefined) return undefined;
      const body = `{"jsonrpc":"2.0","id":${JSON.stringify(message?.id)},"result":${result}}`;
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  });
  house = await openGatewayHouse({ policies: policies() });
  await house.decide('fleet.add', { name: 'modern', url: upstream.url, roots: ['/projects'] });
});
afterAll(async () => {
  await house.close();
  await upstream.stop();
});

function answered({ method, params }: Message): string | undefined {
  if (method === 'server/discover')
    return JSON.stringify({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {}, extensions } });
  if (method === 'tools/call') return created;
  if (method === 'tasks/get') return state;
  if (method !== 'tasks/update' && method !== 'tasks/cancel') return undefined;
  updates.push(params);
  return '{"resultType":"complete"}';
}

function ask(
  { caller }: HouseAgent,
  method: string,
  rest: JsonObject = {},
  facts: ClientFacts | null = client,
): Promise<RelayAnswer> {
  return house.dispatch.relay(caller, {
    method,
    target: { kind: 'task', id: 't-1' },
    scope: all,
    args: undefined,
    rest,
    signal: new AbortController().signal,
    onProgress: undefined,
    ...(facts === null ? {} : { client: facts }),
  });
}

const begin = (kimi: HouseAgent): Promise<unknown> => kimi.call('modern__echo', {}, { client });

test('[TASK-1] [TASK-2] [TASK-8] a call its upstream makes a task of is asked about byte for byte, under its id in the header', async () => {
  const kimi = await house.agent();
  state = done;
  expect(house.dispatch.offering(kimi.caller, all)).toMatchObject({ extensionTasks: {} });
  expect(house.dispatch.offering(kimi.caller, all)).not.toHaveProperty('sessionTasks');
  expect(await begin(kimi)).toEqual({ kind: 'upstream', result: created });
  expect(await ask(kimi, 'tasks/get')).toEqual({ kind: 'upstream', result: done });
  const { headers } = upstream.seen.findLast(({ message }) => message?.method === 'tasks/get') ?? {};
  expect(headers).toMatchObject({ 'mcp-method': 'tasks/get', 'mcp-name': 't-1' });
  const ended = (await house.records('task.ended')).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
  expect(ended.map(({ facts }) => facts)).toMatchObject([{ capability: 'modern:call:echo', status: 'completed' }]);
});

test('[TASK-3] nobody else has it, and a client of a session finds no method to ask by', async () => {
  const [kimi, thief] = [await house.agent(), await house.agent()];
  await begin(kimi);
  const before = upstream.seen.length;
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    await expect(ask(thief, method)).rejects.toMatchObject({ code: 'gateway.unknown_task' });
  await expect(ask(thief, 'tasks/get', {}, null)).rejects.toMatchObject({ code: 'gateway.unknown_method' });
  expect(upstream.seen.length).toBe(before);
});

test('[TASK-11] what a task asks is handed on where policy lets it, on the record, and not at all where it does not', async () => {
  const kimi = await house.agent();
  state = waiting;
  await begin(kimi);
  expect(await ask(kimi, 'tasks/get')).toEqual({ kind: 'upstream', result: waiting });
  const handed = (await house.records('ask.handed')).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
  expect(handed.map(({ facts }) => facts)).toMatchObject([{ upstream: 'modern', methods: ['elicitation/create'] }]);
  await house.adopt(policies("'modern:method:elicitation/create'"));
  await expect(ask(kimi, 'tasks/get')).rejects.toMatchObject({ code: 'gateway.not_answered' });
  await house.adopt(policies());
});

test('[TASK-11] of roots in the answers an upstream is told what its entry allows', async () => {
  const kimi = await house.agent();
  await begin(kimi);
  const roots = [{ uri: 'file:///projects/a' }, { uri: 'file:///secret' }];
  updates.length = 0;
  await ask(kimi, 'tasks/update', { inputResponses: { a: { roots }, b: { action: 'accept', content: { ok: true } } } });
  expect(updates).toMatchObject([
    {
      taskId: 't-1',
      inputResponses: { a: { roots: [{ uri: 'file:///projects/a' }] }, b: { action: 'accept', content: { ok: true } } },
    },
  ]);
  expect(JSON.stringify(updates)).not.toContain('secret');
});
