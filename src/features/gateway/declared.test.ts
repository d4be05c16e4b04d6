// What an endpoint says it has, log levels, and the methods only an upstream knows. Attackers included.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { oddEcho } from '../../../test/fixtures/followed.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { RelayAnswer, ToolScope } from '../../kernel/dispatch.ts';
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = `
version: 1
limits: { deny: ['hidden:*:*', 'parts:{read,prompt,method}:*', 'parts:call:touch', 'a:method:vendor/secret'], rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: 'a:method:vendor/ask', effect: ask, ttl: 5m }
      - { match: 'a:method:vendor/*', effect: allow, redact: [email] }
      - { match: 'hidden:*:*', effect: allow }
      - { match: '{a,parts,plain}:{call,read}:*', effect: allow }
`;

const all: ToolScope = { kind: 'all' };
const at = (upstream: string): ToolScope => ({ kind: 'upstream', upstream });

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({
    policies,
    upstreams: { a: ['followed', 'a'], hidden: ['followed', 'h'], parts: ['followed', 'p'], plain: ['offers', 'o'] },
  });
});
afterAll(() => house.close());

function relay({ caller }: HouseAgent, name: string, rest: JsonObject = {}, scope: ToolScope = at('a')): Promise<RelayAnswer> {
  return house.dispatch.relay(caller, {
    method: name,
    target: { kind: 'method', name },
    scope,
    args: undefined,
    rest,
    signal: new AbortController().signal,
    onProgress: undefined,
  });
}

function refusal(kimi: HouseAgent, name: string, scope?: ToolScope): Promise<AppError> {
  return relay(kimi, name, {}, scope).then(
    (answer) => {
      throw new Error(`it passed: ${JSON.stringify(answer)}`);
    },
    (thrown: unknown) => asAppError(thrown),
  );
}

const asked = async (kimi: HouseAgent): Promise<string[]> => JSON.parse(await kimi.text('a__asked')) as string[];

test('[DECL-1] an endpoint has what something behind it has, and an upstream speaks for itself at its own', async () => {
  const { caller } = await house.agent();
  const { dispatch } = house;
  expect(dispatch.offering(caller, all)).toMatchObject({ logging: true, subscriptions: true });
  expect(dispatch.offering(caller, all)).not.toHaveProperty('upstream');
  expect(dispatch.offering(caller, at('a'))).toMatchObject({
    logging: true,
    subscriptions: true,
    upstream: {
      serverInfo: { name: 'a', version: '1', 'x-kept': true },
      instructions: 'Ask a nicely.',
      capabilities: { experimental: { 'vendor/x': { kept: [1] } } },
    },
  });
  expect(dispatch.offering(caller, at('plain'))).toMatchObject({ logging: false, subscriptions: false });
});

test('[DECL-1] an upstream that a deny covers whole is as if it were not there, one that is left in part is there', async () => {
  const { caller } = await house.agent();
  const nobody = house.dispatch.offering(caller, at('nobody'));
  expect(house.dispatch.offering(caller, at('hidden'))).toEqual(nobody);
  expect(nobody).not.toHaveProperty('upstream');
  // What is left of it is one tool; its resources are denied, and nothing of theirs is promised.
  expect(house.dispatch.offering(caller, at('parts'))).toMatchObject({
    resources: false,
    subscriptions: false,
    logging: true,
    upstream: { serverInfo: { name: 'p' } },
  });
});

test('[VENDOR-1] a method only the upstream knows reaches it, both ways byte for byte, and is recorded as a write', async () => {
  const kimi = await house.agent();
  const rest = { n: 1, _meta: { 'vendor/x': [null] }, deep: { kept: true } };
  const { syncs } = house.files;
  expect(await relay(kimi, 'vendor/echo', rest)).toEqual({ kind: 'upstream', result: oddEcho(rest) });
  // Its intent was safe from a loss of power before it was sent.
  expect(house.files.syncs).toBeGreaterThan(syncs);
  expect(await relay(kimi, 'vendor/echo', { mail: 'ada@example.com' })).not.toMatchObject({
    result: expect.stringContaining('ada@') as string,
  });
  expect(await relay(kimi, 'vendor/missing')).toMatchObject({
    kind: 'upstream_error',
    error: expect.stringContaining('-32601') as string,
  });
  await vi.waitFor(async () => {
    const calls = (await house.records()).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
    expect(calls.find(({ event }) => event === 'call.intent')?.facts).toMatchObject({
      capability: 'a:method:vendor/echo',
      method: 'vendor/echo',
    });
    expect(calls.filter(({ event }) => event === 'call.outcome')).toHaveLength(3);
  });
});

test('[VENDOR-1] a person agrees to exactly these params', async () => {
  const kimi = await house.agent();
  const params = { what: 'this' };
  await expect(relay(kimi, 'vendor/ask', params)).rejects.toMatchObject({ code: 'approvals.pending' });
  const [question] = await house.open(kimi);
  expect(question).toMatchObject({ capability: 'a:method:vendor/ask', args: params });
  await house.approve(question?.approval_id ?? '');
  await expect(relay(kimi, 'vendor/ask', { what: 'that' })).rejects.toMatchObject({ code: 'approvals.pending' });
  expect(await relay(kimi, 'vendor/ask', params)).toMatchObject({ kind: 'upstream_error' });
});

test('[VENDOR-2] without a rule, elsewhere, or under a name no capability holds there is no such method, and nothing is sent', async () => {
  const kimi = await house.agent();
  const before = await asked(kimi);
  expect(await refusal(kimi, 'other/echo')).toMatchObject({
    code: 'gateway.unknown_method',
    message: expect.stringContaining("'a:method:other/echo'") as string,
  });
  expect(await refusal(kimi, 'vendor/echo', all)).toMatchObject({ code: 'gateway.unknown_method' });
  expect(await refusal(kimi, 'vendor/echo', at('plain'))).toMatchObject({ code: 'gateway.unknown_method' });
  expect(await refusal(kimi, 'vendor/echo', { kind: 'toolset', toolset: 'gate' })).toMatchObject({
    code: 'gateway.unknown_method',
  });
  for (const name of [
    'vendor/*',
    'vendor/e{ch}o',
    'vendor/\u202eohce',
    'vendor/e\u0301',
    `vendor/${'x'.repeat(600)}`,
    'vendor/a b\n',
  ])
    expect(await refusal(kimi, name)).toMatchObject({ code: 'gateway.unknown_method' });
  expect(await asked(kimi)).toEqual(before);
});

test('[VENDOR-2] what a deny covers is denied, whether or not there is such an upstream', async () => {
  const kimi = await house.agent();
  expect(await refusal(kimi, 'vendor/secret')).toMatchObject({ code: 'policy.denied' });
  const hidden = await refusal(kimi, 'vendor/echo', at('hidden'));
  expect(hidden).toMatchObject({ code: 'policy.denied' });
  expect(await refusal(kimi, 'vendor/echo', at('nobody'))).toMatchObject({ code: 'gateway.unknown_method' });
});

test('[LOGS-1] a session hears what it asked for, one that said nothing from info on, and the upstream is asked for the most', async () => {
  const kimi = await house.agent();
  const heard = new Map<string, string[]>();
  const say = async (session: string, level: string): Promise<void> => {
    const host: ClientHost = {
      capabilities: {},
      info: undefined,
      ask: () => Promise.reject(new Error('nobody asks this client')),
      notify: (method, params = '') =>
        void heard.get(session)?.push(`${method} ${(JSON.parse(params) as { level: string }).level}`),
    };
    if (!heard.has(session)) heard.set(session, []);
    await house.dispatch.callTool(
      { ...kimi.caller, session },
      { name: 'a__say', args: { level }, scope: all, rest: {}, signal: new AbortController().signal, onProgress: undefined, host },
    );
  };
  const set = (session: string, level: 'debug' | 'error' | undefined): void =>
    house.dispatch.setLogLevel({ ...kimi.caller, session }, level);
  set('curious', 'debug');
  set('calm', 'error');
  set('deaf', undefined);
  await vi.waitFor(async () => expect((await asked(kimi)).at(-1)).toBe('logging/setLevel debug'));
  for (const session of ['curious', 'calm', 'deaf', 'silent'])
    for (const level of ['debug', 'info', 'error', 'unheard-of']) await say(session, level);
  const log = (...levels: string[]): string[] => levels.map((level) => `notifications/message ${level}`);
  expect(Object.fromEntries(heard)).toEqual({
    curious: log('debug', 'info', 'error'),
    calm: log('error'),
    deaf: [],
    silent: log('info', 'error'),
  });
  house.dispatch.sessionEnded('curious');
  await vi.waitFor(async () => expect((await asked(kimi)).at(-1)).toBe('logging/setLevel error'));
});
