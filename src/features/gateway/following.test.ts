// Resource subscriptions through the gateway: who hears of which change, and what ends that. Attackers included.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { oddUpdate } from '../../../test/fixtures/followed.ts';
import { fixtureCommand } from '../../../test/support/fixture-upstream.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { mostFollowed } from './followers.ts';

const rules = `
agents:
  '*':
    capabilities:
      - { match: '*:call:*', effect: allow }
      - { match: 'a:read:a:ask', effect: ask, ttl: 5m }
      - { match: 'masked:read:*', effect: allow, redact: [email] }
      - { match: '{a,b,plain}:read:*', effect: allow }
`;
const limits = (more = ''): string =>
  `version: 1\nlimits: { deny: ['a:read:a:secret*', 'a:read:a:dir/hidden'${more}], rate_limit: 1000/s }\n${rules}`;

const all: ToolScope = { kind: 'all' };
const at = (upstream: string): ToolScope => ({ kind: 'upstream', upstream });

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({
    policies: limits(),
    upstreams: { a: ['followed', 'a'], b: ['followed', 'b'], masked: ['followed', 'm'], plain: ['offers', 'p'] },
  });
});
afterAll(() => house.close());

interface Client extends ClientHost {
  readonly heard: string[];
}

function client(): Client {
  const heard: string[] = [];
  return {
    heard,
    capabilities: {},
    info: undefined,
    ask: () => Promise.reject(new Error('nobody asks this client')),
    notify(method, params) {
      if (method === 'notifications/resources/updated') heard.push(params ?? '');
    },
  };
}

function follow({ caller }: HouseAgent, host: ClientHost, uri: string, scope: ToolScope = all): Promise<void> {
  return house.dispatch.follow(caller, { scope, uri, host, signal: new AbortController().signal });
}

function refusal(kimi: HouseAgent, uri: string, scope?: ToolScope): Promise<AppError> {
  return follow(kimi, client(), uri, scope).then(
    () => {
      throw new Error('it was followed');
    },
    (thrown: unknown) => asAppError(thrown),
  );
}

/** Resolves when whoever was to hear of it heard. */
const touch = async (kimi: HouseAgent, uri: string, upstream = 'a'): Promise<void> =>
  void (await kimi.call(`${upstream}__touch`, { uri }));

const asked = async (kimi: HouseAgent, upstream = 'a'): Promise<string[]> =>
  JSON.parse(await kimi.text(`${upstream}__asked`)) as string[];

const recorded = async ({ caller }: HouseAgent, event: 'resource.followed' | 'resource.unfollowed'): Promise<unknown[]> =>
  (await house.records(event)).filter(({ actor }) => actor === `agent:${caller.agent}`).map(({ facts }) => facts);

const another = (kimi: HouseAgent, session: string): HouseAgent => ({ ...kimi, caller: { ...kimi.caller, session } });

test('[SUBS-1] [SUBS-2] a change reaches who follows the resource, in the bytes of its upstream, and nobody else', async () => {
  const [kimi, other] = [await house.agent(), await house.agent()];
  const [mine, theirs, idle] = [client(), client(), client()];
  await follow(kimi, mine, 'a:own');
  await follow(other, theirs, 'b:own', at('b'));
  await follow(other, idle, 'a:dir');
  await touch(kimi, 'a:own');
  expect(mine.heard).toEqual([oddUpdate('"a:own"')]);
  expect(theirs.heard).toEqual([]);
  expect(idle.heard).toEqual([]);
  expect(await recorded(kimi, 'resource.followed')).toMatchObject([{ capability: 'a:read:a:own' }]);
});

test('[SUBS-2] rules that mask a read mask the update', async () => {
  const [kimi, host] = [await house.agent(), client()];
  await follow(kimi, host, 'm:own');
  await touch(kimi, 'm:own', 'masked');
  expect(host.heard).toHaveLength(1);
  expect(host.heard[0]).not.toContain('ada@example.com');
});

test('[SUBS-2] [SUBS-3] a part of what is followed is told of once, and only where it may be read itself', async () => {
  const [kimi, host] = [await house.agent(), client()];
  await follow(kimi, host, 'a:dir');
  await follow(kimi, host, 'a:dir/x', at('a'));
  await touch(kimi, 'a:dir/x/y');
  expect(host.heard).toEqual([oddUpdate('"a:dir/x/y"')]);
  for (const uri of ['a:dir/hidden', 'a:dirt', 'a:dir/../secret', 'a:dir/x*']) await touch(kimi, uri);
  expect(host.heard).toHaveLength(1);
});

test('[SUBS-1] what may not be read cannot be followed, and is refused in the words of a read', async () => {
  const kimi = await house.agent();
  const before = await asked(kimi);
  expect(await refusal(kimi, 'a:secret', at('a'))).toMatchObject({ code: 'policy.denied', data: { hard: true } });
  expect(await refusal(kimi, 'a:secret/that/is/not/there', at('a'))).toMatchObject({ code: 'policy.denied', data: { hard: true } });
  expect(await refusal(kimi, 'a:secret')).toMatchObject({ code: 'gateway.unknown_resource' });
  expect(await refusal(kimi, 'a:x/../secret', at('a'))).toMatchObject({ code: 'gateway.bad_uri' });
  expect(await refusal(kimi, 'a:*', at('a'))).toMatchObject({ code: 'gateway.bad_uri' });
  expect(await refusal(kimi, 'x:y', at('nobody'))).toMatchObject({ code: 'gateway.unknown_resource' });
  expect(await asked(kimi)).toEqual(before);
  expect(await recorded(kimi, 'resource.followed')).toEqual([]);
  await vi.waitFor(async () => {
    const refused = (await house.records('call.refused')).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
    expect(refused.length).toBeGreaterThan(0);
  });
});

test('[SUBS-1] where a person has to agree nobody is asked, and what a person gave for a time is honoured', async () => {
  const [kimi, host] = [await house.agent(), client()];
  expect(await refusal(kimi, 'a:ask')).toMatchObject({
    code: 'gateway.not_followable',
    hint: expect.stringContaining('Read') as string,
  });
  expect(await house.open(kimi)).toEqual([]);
  await house.approve(await kimi.ask('a:read:a:ask'));
  await follow(kimi, host, 'a:ask');
  await touch(kimi, 'a:ask');
  expect(host.heard).toHaveLength(1);
});

test('[SUBS-1] an upstream that does not tell, or refuses to, is told as exactly that', async () => {
  const kimi = await house.agent();
  expect(await refusal(kimi, 'p:own')).toMatchObject({
    code: 'gateway.not_followable',
    message: expect.stringContaining('does not tell') as string,
  });
  expect(await refusal(kimi, 'a:refused', at('a'))).toMatchObject({
    message: expect.stringContaining('Resource not found') as string,
  });
  expect(await recorded(kimi, 'resource.unfollowed')).toMatchObject([{ reason: 'refused' }]);
});

test('[SUBS-3] a new deny ends the following at the next change, silently and on the record', async () => {
  const [kimi, host] = [await house.agent(), client()];
  await follow(kimi, host, 'a:own');
  await house.adopt(limits(", 'a:read:a:own'"));
  await touch(kimi, 'a:own');
  expect(host.heard).toEqual([]);
  expect(await recorded(kimi, 'resource.unfollowed')).toMatchObject([{ capability: 'a:read:a:own', reason: 'policy' }]);
  await house.adopt(limits());
  await touch(kimi, 'a:own');
  expect(host.heard).toEqual([]);
});

test('[SUBS-3] a suspended agent hears nothing', async () => {
  const [kimi, other, host] = [await house.agent(), await house.agent(), client()];
  await follow(kimi, host, 'a:own');
  await house.local('agents.suspend', { name: kimi.caller.agent });
  await touch(other, 'a:own');
  expect(host.heard).toEqual([]);
});

test('[SUBS-4] an upstream is asked once for a URI that several follow, and told when the last one is gone', async () => {
  const kimi = await house.agent();
  const [one, other] = [another(kimi, 'one'), another(kimi, 'other')];
  const [first, second, third] = [client(), client(), client()];
  const about = async (): Promise<string[]> => (await asked(kimi, 'b')).filter((text) => text.endsWith('b:dir'));
  await follow(one, first, 'b:dir');
  await follow(one, first, 'b:dir');
  await follow(one, second, 'b:dir');
  await follow(other, third, 'b:dir');
  await touch(kimi, 'b:dir', 'b');
  expect([first, second, third].map(({ heard }) => heard.length)).toEqual([1, 1, 1]);
  // Somebody else's session, another client, another endpoint: nothing of it is theirs to end.
  house.dispatch.unfollow(other.caller, { scope: all, uri: 'b:dir', host: first });
  house.dispatch.unfollow(one.caller, { scope: at('a'), uri: 'b:dir', host: first });
  house.dispatch.unfollow(one.caller, { scope: all, uri: 'b:dir', host: first });
  await touch(kimi, 'b:dir', 'b');
  expect([first, second, third].map(({ heard }) => heard.length)).toEqual([1, 2, 2]);
  house.dispatch.sessionEnded('one');
  await touch(kimi, 'b:dir', 'b');
  expect([first, second, third].map(({ heard }) => heard.length)).toEqual([1, 2, 3]);
  expect(await about()).not.toContain('resources/unsubscribe b:dir');
  house.dispatch.sessionEnded('other');
  await vi.waitFor(async () => expect(await about()).toEqual(['resources/subscribe b:dir', 'resources/unsubscribe b:dir']));
  expect(await recorded(kimi, 'resource.unfollowed')).toMatchObject([
    { reason: 'asked' },
    { reason: 'session_ended' },
    { reason: 'session_ended' },
  ]);
});

test('[SUBS-5] a session cannot follow without end', async () => {
  const [kimi, host] = [await house.agent(), client()];
  for (let n = 0; n < mostFollowed.perSession; n += 1) await follow(kimi, host, `a:n/${n}`, at('a'));
  expect(await refusal(kimi, 'a:own')).toMatchObject({ code: 'gateway.too_many_followed', kind: 'limited' });
  house.dispatch.unfollow(kimi.caller, { scope: all, uri: 'a:n/0', host });
  await follow(kimi, host, 'a:own');
});

test('[SUBS-4] an upstream that starts anew is asked again', async () => {
  const [kimi, host] = [await house.agent(), client()];
  await follow(kimi, host, 'masked:x', at('masked'));
  await kimi.call('masked__exit').catch(() => undefined);
  await vi.waitFor(async () => expect(await asked(kimi, 'masked')).toContain('resources/subscribe masked:x'), { timeout: 10_000 });
  await touch(kimi, 'masked:x', 'masked');
  expect(host.heard.at(-1)).toContain('"masked:x"');
});

test('[SUBS-4] what is followed of an upstream ends with it, and is asked of its successor only when somebody follows it again', async () => {
  const [kimi, host] = [await house.agent(), client()];
  await follow(kimi, host, 'b:own');
  await house.decide('fleet.remove', { name: 'b' });
  expect(await recorded(kimi, 'resource.unfollowed')).toMatchObject([{ reason: 'upstream_left' }]);
  await house.decide('fleet.add', { name: 'b', run: fixtureCommand('followed', 'b') });
  expect(await asked(kimi, 'b')).toEqual([]);
  await follow(kimi, host, 'b:own');
  expect(await asked(kimi, 'b')).toEqual(['resources/subscribe b:own']);
});

const facts = async (kimi: HouseAgent): Promise<JsonObject[]> =>
  (await house.records('call.intent'))
    .filter(({ actor }) => actor === `agent:${kimi.caller.agent}`)
    .map(({ facts: said = {} }) => said);

test('[SUBS-1] following leaves no call on the record, for nothing was read', async () => {
  const [kimi, host] = [await house.agent(), client()];
  await follow(kimi, host, 'a:own');
  expect(await facts(kimi)).toEqual([]);
});
