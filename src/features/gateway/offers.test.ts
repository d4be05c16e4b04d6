// Prompts, resources and completion through the gateway: what is listed to whom, what is decided, and what travels.
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { oddAnswer, oddPrompt } from '../../../test/fixtures/offers.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { ListName, RelayAnswer, RelayRequest, RelayTarget, ToolScope } from '../../kernel/dispatch.ts';
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = `
version: 1
limits: { deny: ['*:prompt:secret', 'b:read:b:secret/*', 'hidden:*:*'], rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: 'a:prompt:greet', effect: ask, ttl: 5m }
      - { match: '{a,b,masked}:{prompt,read}:*', effect: allow }
      - { match: 'a:call:change', effect: allow }
      - { match: 'masked:*:*', effect: allow, redact: [email] }
`;

const all: ToolScope = { kind: 'all' };
const at = (upstream: string): ToolScope => ({ kind: 'upstream', upstream });
const prompt = (name: string): RelayTarget => ({ kind: 'prompt', name });
const resource = (uri: string): RelayTarget => ({ kind: 'resource', uri });

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({
    policies,
    upstreams: { b: ['offers', 'b'], a: ['offers', 'a'], masked: ['offers', 'm'], hidden: ['offers', 'h'], plain: ['echo'] },
  });
});
afterAll(() => house.close());

function relay({ caller }: HouseAgent, target: RelayTarget, more: Partial<RelayRequest> = {}): Promise<RelayAnswer> {
  return house.dispatch.relay(caller, {
    method: target.kind === 'prompt' ? 'prompts/get' : target.kind === 'resource' ? 'resources/read' : 'completion/complete',
    target,
    scope: all,
    args: undefined,
    rest: {},
    signal: new AbortController().signal,
    onProgress: undefined,
    ...more,
  });
}

function refusal(kimi: HouseAgent, target: RelayTarget, more?: Partial<RelayRequest>): Promise<AppError> {
  return relay(kimi, target, more).then(
    (answer) => {
      throw new Error(`it passed: ${JSON.stringify(answer)}`);
    },
    (thrown: unknown) => asAppError(thrown),
  );
}

function keys({ caller }: HouseAgent, list: Exclude<ListName, 'tools'>, scope: ToolScope = all): unknown[] {
  const key = { prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' }[list];
  return house.dispatch.list(caller, scope, list).map((text) => (JSON.parse(text) as JsonObject)[key]);
}

const recorded = async ({ caller }: HouseAgent): Promise<JsonObject[]> =>
  (await house.records())
    .filter(({ actor, event }) => actor === `agent:${caller.agent}` && event.startsWith('call.'))
    .map(({ event, facts = {} }) => ({ event, ...facts }));

test('[REL-1] [REL-3] prompts of every page are listed like tools, raw at their own endpoint, without what a deny covers', async () => {
  const kimi = await house.agent();
  const listed = keys(kimi, 'prompts');
  const wörds = expect.stringMatching(/^[abm]\w*__W_rds_are_long__[0-9a-f]{8}$/) as string;
  expect(listed).toEqual([wörds, 'a__greet', wörds, 'b__greet', wörds, 'masked__greet']);
  expect(keys(kimi, 'prompts', at('a'))).toEqual(['Wörds are long', 'greet'].toSorted());
  expect(keys(kimi, 'prompts', at('hidden'))).toEqual([]);
  expect(house.dispatch.list(kimi.caller, at('b'), 'prompts')).toContain(oddPrompt);
  expect(house.dispatch.list(kimi.caller, all, 'prompts')).toContain(oddPrompt.replace('"greet"', '"b__greet"'));
});

test('[REL-2] a prompt reaches its upstream under its own name, with everything else the request had, and every byte comes back', async () => {
  const kimi = await house.agent();
  const rest = { _meta: { 'vendor/x': [null] }, unknown: { kept: true } };
  const sent = { ...rest, name: 'greet', arguments: { who: 'ada' } };
  const answer = { kind: 'upstream', result: oddAnswer(sent) };
  expect(await relay(kimi, prompt('b__greet'), { args: { who: 'ada' }, rest })).toEqual(answer);
  expect(await relay(kimi, prompt('greet'), { args: { who: 'ada' }, rest, scope: at('b') })).toEqual(answer);
  // Of completion alone `ref` says what it is about.
  const odd = { ref: { type: 'ref/prompt', name: 'secret' } };
  expect(await relay(kimi, prompt('b__greet'), { args: { who: 'ada' }, rest: odd })).toEqual({
    kind: 'upstream',
    result: oddAnswer({ ...odd, name: 'greet', arguments: { who: 'ada' } }),
  });
  expect(await relay(kimi, resource('b:own'), { rest: odd })).toEqual({
    kind: 'upstream',
    result: oddAnswer({ ...odd, uri: 'b:own' }),
  });
  const short = keys(kimi, 'prompts').find((name) => String(name).startsWith('b__W'));
  expect(await relay(kimi, prompt(String(short)))).toEqual({ kind: 'upstream', result: oddAnswer({ name: 'Wörds are long' }) });
});

test('[REL-3] a prompt a rule asks about runs once for exactly these arguments after a person agreed', async () => {
  const kimi = await house.agent();
  const ada = { args: { who: 'ada' } };
  expect(await refusal(kimi, prompt('a__greet'), ada)).toMatchObject({ code: 'approvals.pending' });
  const [question] = await house.open(kimi);
  expect(question).toMatchObject({ capability: 'a:prompt:greet', args: { who: 'ada' } });
  await house.approve(question?.approval_id ?? '');
  expect(await refusal(kimi, prompt('a__greet'), { args: { who: 'bob' } })).toMatchObject({ code: 'approvals.pending' });
  expect(await relay(kimi, prompt('a__greet'), ada)).toMatchObject({ kind: 'upstream' });
  expect(await refusal(kimi, prompt('a__greet'), ada)).toMatchObject({ code: 'approvals.pending' });
});

test('[REL-3] what a deny covers answers alike whether or not it exists', async () => {
  const kimi = await house.agent();
  for (const name of ['a__secret', 'hidden__greet', 'hidden__nothing'])
    expect(await refusal(kimi, prompt(name))).toMatchObject({ code: 'policy.denied', data: { deny: 'ceiling_blocked' } });
  for (const uri of ['h:own', 'h:nothing'])
    expect(await refusal(kimi, resource(uri), { scope: at('hidden') })).toMatchObject({ code: 'policy.denied' });
  expect(await refusal(kimi, resource('h:own'))).toMatchObject({ code: 'gateway.unknown_resource' });
  expect(await refusal(kimi, prompt('a__nothing'))).toMatchObject({ code: 'gateway.unknown_prompt' });
  expect(await refusal(kimi, prompt('nobody'))).toMatchObject({ code: 'gateway.unknown_prompt' });
  expect(await refusal(kimi, prompt('a__*'))).toMatchObject({ code: 'gateway.unknown_prompt' });
});

test('[REL-4] intent and outcome are on the record as a read, and so is every refusal', async () => {
  const kimi = await house.agent();
  await relay(kimi, prompt('b__greet'));
  await refusal(kimi, prompt('a__secret'));
  await refusal(kimi, resource('b:a/../b'));
  // Of refusals so many a second are written at once and the rest is counted, whoever caused them.
  expect((await recorded(kimi)).filter(({ event }) => event !== 'call.refused')).toMatchObject([
    { event: 'call.intent', capability: 'b:prompt:greet', method: 'prompts/get' },
    { event: 'call.outcome', outcome: 'ok' },
  ]);
  await setTimeout(1_100);
  const rosa = await house.agent();
  await refusal(rosa, prompt('a__secret'));
  await refusal(rosa, resource('b:a/../b'));
  expect(await recorded(rosa)).toMatchObject([
    { event: 'call.refused', code: 'policy.denied' },
    { event: 'call.refused', code: 'gateway.bad_uri' },
  ]);
});

test('[REL-4] what rules redact is masked in what comes back', async () => {
  const kimi = await house.agent();
  const answer = await relay(kimi, prompt('masked__greet'), { args: { who: 'ada@example.org' } });
  expect(JSON.stringify(answer)).toContain('[REDACTED:email]');
  expect(JSON.stringify(answer)).not.toContain('ada@');
});

test('[REL-1] [REL-6] resources are listed once each, the first upstream by name first, without what nobody could read', async () => {
  const kimi = await house.agent();
  expect(keys(kimi, 'resources')).toEqual(['shared:both', 'a:own', 'a:secret/own', 'b:own', 'm:own', 'm:secret/own']);
  expect(keys(kimi, 'resources', at('b'))).toEqual(['shared:both', 'b:own']);
  expect(keys(kimi, 'resourceTemplates')).toEqual(['a:item/{id}', 'b:item/{id}', 'm:item/{id}']);
});

test('[REL-2] [REL-6] a URI goes to whoever lists it first, else to a template of it, else nowhere', async () => {
  const kimi = await house.agent();
  const read = async (uri: string) => {
    expect(await relay(kimi, resource(uri))).toEqual({ kind: 'upstream', result: oddAnswer({ uri }) });
    return (await recorded(kimi)).findLast(({ event }) => event === 'call.intent')?.['capability'];
  };
  expect(await read('shared:both')).toBe('a:read:shared:both');
  expect(await read('b:own')).toBe('b:read:b:own');
  expect(await read('b:item/7')).toBe('b:read:b:item/7');
  expect(await refusal(kimi, resource('b:item/7/8'))).toMatchObject({
    code: 'gateway.unknown_resource',
    data: { uri: 'b:item/7/8' },
  });
  expect(await relay(kimi, resource('b:item/7/8'), { scope: at('b') })).toMatchObject({ kind: 'upstream' });
  expect(await relay(kimi, resource('b:item/none'))).toMatchObject({ kind: 'upstream_error' });
});

test('[REL-4] a rule that allows lets any number of URIs be read, without a grant for each', async () => {
  const kimi = await house.agent();
  for (let id = 0; id < 40; id += 1) await relay(kimi, resource(`b:item/${id}`));
  expect(JSON.stringify(house.rows()['grants_grant']).includes(`"${kimi.caller.agent}"`)).toBe(false);
  expect((await recorded(kimi)).filter(({ event }) => event === 'call.intent')).toHaveLength(40);
});

test.each(['b:a/../b', 'b:a/%2e%2E/b', 'b:%6Fwn', 'B:own', 'b:own?x', 'b:o*', 'b:own(1)'])(
  '[REL-5] %s is refused before it is decided',
  async (uri) => {
    const kimi = await house.agent();
    expect(await refusal(kimi, resource(uri), { scope: at('b') })).toMatchObject({ kind: 'invalid', code: 'gateway.bad_uri' });
    expect(await house.open(kimi)).toEqual([]);
  },
);

test('[REL-8] completion is decided as its prompt or resource and is told the name the upstream knows', async () => {
  const kimi = await house.agent();
  const argument = { name: 'who', value: 'a' };
  const complete = (target: RelayTarget, ref: JsonObject) => ({
    method: 'completion/complete' as const,
    target,
    rest: { ref, argument },
  });
  const ref = { type: 'ref/prompt', name: 'b__greet', title: 'kept' };
  expect(await relay(kimi, prompt('b__greet'), complete(prompt('b__greet'), ref))).toEqual({
    kind: 'upstream',
    result: oddAnswer({ ref: { ...ref, name: 'greet' }, argument }),
  });
  const template: RelayTarget = { kind: 'template', uri: 'b:item/{id}' };
  const templateRef = { type: 'ref/resource', uri: 'b:item/{id}' };
  expect(await relay(kimi, template, complete(template, templateRef))).toMatchObject({ kind: 'upstream' });
  expect(await recorded(kimi)).toContainEqual(expect.objectContaining({ capability: 'b:read:b:item/%7Bid%7D' }));
  const secret = complete(prompt('a__secret'), { type: 'ref/prompt', name: 'a__secret' });
  expect(await refusal(kimi, prompt('a__secret'), secret)).toMatchObject({ code: 'policy.denied' });
});

test('[REL-8] an approval of a completion is none of the prompt with the same arguments', async () => {
  const kimi = await house.agent();
  const argument = { name: 'who', value: 'a' };
  const completion = { method: 'completion/complete' as const, rest: { ref: { type: 'ref/prompt', name: 'a__greet' }, argument } };
  expect(await refusal(kimi, prompt('a__greet'), completion)).toMatchObject({ code: 'approvals.pending' });
  await house.approve((await house.open(kimi))[0]?.approval_id ?? '');
  expect(await refusal(kimi, prompt('a__greet'), { args: { argument } })).toMatchObject({ code: 'approvals.pending' });
  expect(await relay(kimi, prompt('a__greet'), completion)).toMatchObject({ kind: 'upstream' });
});

test('[REL-9] an endpoint offers what is behind it, and nothing of an upstream that a deny covers', async () => {
  const { caller } = await house.agent();
  const everything = { prompts: true, resources: true, completions: true, logging: false, subscriptions: false };
  const nothing = { prompts: false, resources: false, completions: false, logging: false, subscriptions: false };
  expect(house.dispatch.offering(caller, all)).toEqual(everything);
  expect(house.dispatch.offering(caller, at('a'))).toMatchObject(everything);
  expect(house.dispatch.offering(caller, at('plain'))).toMatchObject(nothing);
  for (const scope of [at('hidden'), at('nobody'), { kind: 'toolset', toolset: 'gate' } as const])
    expect(house.dispatch.offering(caller, scope)).toEqual(nothing);
});

test('[REL-9] a list that changed is read again, and whoever listens hears of it then', async () => {
  const kimi = await house.agent();
  const heard: string[] = [];
  const stop = house.dispatch.onListChanged((list) => void heard.push(list));
  await kimi.call('a__change');
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['prompts', 'resources']));
  expect(keys(kimi, 'prompts')).toContain('a__fresh');
  expect(keys(kimi, 'resources')).toContain('a:fresh');
  stop();
});
