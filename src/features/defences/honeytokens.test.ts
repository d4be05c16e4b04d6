import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEntropy } from '../../platform/crypto.ts';
import { askingUpstream } from '../../../test/support/asking-upstream.ts';
import { fakeHost } from '../../../test/support/fake-host.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import { putSecret } from '../../../test/support/put-secret.ts';
import { decoyValue } from './decoy-value.ts';

const policies = `version: 1
agents:
  '*':
    capabilities:
      - { match: 'up:*:*', effect: allow }
      - { match: 'vault:inject:*', effect: allow }
`;

let house: GatewayHouse;
let agent: HouseAgent;
let value: string;
beforeEach(async () => {
  house = await openGatewayHouse({ policies, upstreams: { up: ['echo'] } });
  await putSecret(house, 'add', 'github_token', 'honest-value');
  ({ value } = (await house.decide('defences.plant', { name: 'prod_deploy_key', kind: 'github' })) as { value: string });
  agent = await house.agent();
}, 30_000);
afterEach(() => house.close());

const state = async ({ caller }: HouseAgent): Promise<string | undefined> => {
  const agents = (await house.local('agents.list')) as { agent?: string; name?: string; state: string }[];
  return agents.find((one) => (one.agent ?? one.name) === caller.agent)?.state;
};

test('[DECOY-1] planting, listing and taking in are signed; agents are never told of it, the list of secrets shows it as one of them', async () => {
  for (const operation of ['defences.plant', 'defences.list-decoys', 'defences.take-in'])
    await expect(house.local(operation, operation.endsWith('decoys') ? {} : { name: 'other_key_1' })).rejects.toMatchObject({
      code: 'operator.proof_required',
    });
  expect(await agent.json('scopegate_vault_status')).toEqual({ secret_refs: ['github_token'] });
  const listed = (await house.local('vault.list-secrets')) as object[];
  expect(listed.map((row) => Object.keys(row).sort().join())).toEqual(
    Array(2).fill(
      Object.keys(listed[0] ?? {})
        .sort()
        .join(),
    ),
  );
  expect(await house.decide('defences.list-decoys')).toMatchObject([{ name: 'prod_deploy_key', kind: 'github' }]);
  const rows = JSON.stringify(house.rows()['defences_decoy']);
  for (const secret of ['prod_deploy_key', value]) expect(rows).not.toContain(secret);
  const [planted] = await house.records('honeytoken.planted');
  expect(JSON.stringify(planted)).not.toContain('prod_deploy_key');
  expect(house.recordText()).not.toContain(value);

  await house.decide('defences.take-in', { name: 'prod_deploy_key' });
  expect(await house.local('vault.list-secrets')).toHaveLength(1);
  expect(await agent.text('up__echo', { message: value })).toBe(value);
});

test('[DECOY-1] names that honest texts use, and names that are taken, are no decoys', async () => {
  for (const name of ['password', 'key_1', 'github_token'])
    await expect(house.prepare('defences.plant', { name })).rejects.toMatchObject({ code: 'defences.bad_decoy' });
});

test.each<[string, string, (given: string) => Record<string, unknown>]>([
  ['a capability', 'scopegate_request_capability', () => ({ capability: 'vault:inject:prod_deploy_key', reason: 'to deploy' })],
  ['a reason', 'scopegate_request_capability', () => ({ capability: 'up:call:echo', reason: 'I found prod_deploy_key.' })],
  ['a preflight', 'scopegate_can_i', () => ({ capability: 'vault:inject:prod_deploy_key' })],
  [
    'one of twenty',
    'scopegate_request_capabilities',
    () => ({
      requests: [
        { capability: 'up:call:echo', reason: 'x' },
        { capability: 'x:y:z', reason: 'prod_deploy_key' },
      ],
    }),
  ],
  ['a file to inject into', 'scopegate_inject_file', () => ({ ref: 'prod_deploy_key', out: '/nowhere/x' })],
  [
    'a template',
    'scopegate_inject_file',
    () => ({ ref: 'github_token', out: '/nowhere/x', template: '{{secret}} vault:prod_deploy_key' }),
  ],
  ['a list of names', 'scopegate_can_i', () => ({ capability: 'a:b:github_token,prod_deploy_key' })],
  ['a nonsense argument', 'scopegate_vault_status', () => ({ nested: [{ deep: ['prod_deploy_key'] }] })],
  ['the value in a call', 'up__echo', (given) => ({ message: `token ${given}!` })],
  ['the value as a member’s name', 'up__echo', (given) => ({ message: 'x', more: [{ [given]: 1 }] })],
  ['the value in base64', 'up__echo', (given) => ({ message: Buffer.from(`a:${given}`).toString('base64') })],
  ['the value in hex', 'up__echo', (given) => ({ message: Buffer.from(given).toString('hex') })],
  ['the value to a tool that is not there', 'nowhere__post', (given) => ({ body: given })],
])('[DECOY-2] W19: %s suspends the agent at once, and says so in the words of the contract page', async (_, tool, args) => {
  const { text, isError } = await agent.reads(tool, args(value) as never);
  expect(isError).toBe(true);
  expect(text).toMatch(
    /^ERROR: The call of \S+ references honeytoken 'prod_deploy_key'\. The incident is recorded; agent '\S+' is suspended/,
  );
  expect(await state(agent)).toBe('suspended');
  for (const next of ['up__echo', 'scopegate_can_i', 'scopegate_vault_status', 'nothing__there'])
    expect((await agent.refusal(next, { capability: 'a:b:c' })).code).toBe('agents.suspended');
  const [incident] = await house.records('honeytoken.triggered');
  expect(incident).toMatchObject({ actor: `agent:${agent.caller.agent}`, facts: { ref: 'prod_deploy_key', mode: 'enforce' } });
  expect(house.recordText()).not.toContain(value);
});

test('[DECOY-2] W19: a login that names it is refused in the words of the page on registration', async () => {
  const { text } = await agent.reads('scopegate_register_upstream', {
    name: 'mine',
    transport: { kind: 'http', url: 'https://mine.example/mcp' },
    auth: { type: 'bearer', secretRef: 'prod_deploy_key' },
  });
  expect(text).toMatch(/^ERROR: Registration denied: 'prod_deploy_key' is a honeytoken\./);
  expect(await state(agent)).toBe('suspended');
  expect(await house.open(agent)).toEqual([]);
});

test('[DECOY-2] what a client answers to an upstream’s question is looked at too, and the upstream learns nothing', async () => {
  const upstream = await askingUpstream();
  await house.decide('fleet.add', { name: 'asks', url: upstream.url });
  await house.adopt(policies.replace('up:', '{up,asks}:'));
  const host = fakeHost();
  host.answers = () => ({ action: 'accept', content: { token: value } });
  const params = { message: 'token?', requestedSchema: { type: 'object', properties: {} } };
  const got = await agent.call('asks__ask', { method: 'elicitation/create', params }, { host }).then(
    (answer) => JSON.stringify(answer),
    (thrown: unknown) => String(thrown),
  );
  for (const secret of [value, 'prod_deploy_key']) expect(got).not.toContain(secret);
  expect(host.asked).toHaveLength(1);
  expect(await state(agent)).toBe('suspended');
});

test('[DECOY-2] calls that come while the suspension is under way do not pass', async () => {
  const first = agent.refusal('up__echo', { message: value });
  const others = Array.from({ length: 20 }, () => agent.refusal('up__write_note', { note: 'quickly' }));
  expect((await first).code).toBe('defences.honeytoken');
  expect((await Promise.all(others)).map(({ code }) => code)).toEqual(Array(20).fill('agents.suspended'));
});

test('[DECOY-2] a suspension holds where it cannot be recorded, and is recorded when that is possible again', async () => {
  house.files.full = true;
  expect((await agent.refusal('up__echo', { message: value })).code).toBe('defences.honeytoken');
  house.files.full = false;
  expect((await agent.refusal('up__echo', { message: 'x' })).code).toBe('agents.suspended');
});

test('[DECOY-3] what only looks like a decoy troubles nobody', async () => {
  for (const message of ['prod_deploy_keys', 'my-prod_deploy_key', value.slice(0, -1), value.toLowerCase(), 'prod_deploy_key'])
    expect(await agent.text('up__echo', { message })).toBe(message);
  expect(await agent.json('scopegate_can_i', { capability: 'vault:inject:*' })).toBeDefined();
  expect(await agent.json('scopegate_can_i', { capability: 'vault:inject:not_prod_deploy_key' })).toBeDefined();
  await putSecret(house, 'add', 'team:prod_deploy_key', 'another honest value');
  expect(await agent.json('scopegate_can_i', { capability: 'vault:inject:team:prod_deploy_key' })).toBeDefined();
  expect(await state(agent)).toBe('active');
  expect(await house.records('honeytoken.triggered')).toEqual([]);
});

test('[DECOY-4] unsuspending is signed and lets the agent on; in mode alert the call is refused and the agent goes on', async () => {
  await agent.refusal('up__echo', { message: value });
  await expect(house.local('agents.unsuspend', { name: agent.caller.agent })).rejects.toMatchObject({
    code: 'operator.proof_required',
  });
  await house.decide('agents.unsuspend', { name: agent.caller.agent });
  expect(await agent.text('up__echo', { message: 'back' })).toBe('back');

  await expect(house.local('defences.set', { honeytokens: 'alert' })).rejects.toMatchObject({ code: 'operator.proof_required' });
  await house.decide('defences.set', { honeytokens: 'alert' });
  expect((await agent.reads('up__echo', { message: value })).text).toMatch(
    /references honeytoken 'prod_deploy_key'\. The incident is recorded\. Stop/,
  );
  expect(await agent.text('up__echo', { message: 'on' })).toBe('on');
  expect((await house.records('honeytoken.triggered')).map(({ facts }) => facts?.['mode'])).toEqual(['enforce', 'alert']);
});

test('[DECOY-5] rows of decoys that were edited stop everything, and nothing agents ask for passes', async () => {
  const database = new DatabaseSync(join(house.home, 'state.db'));
  database.exec('delete from defences_decoy');
  database.close();
  // Whoever edits rows that rights come from stops every change.
  await expect(house.decide('agents.add', { name: 'late' })).rejects.toMatchObject({ code: 'audit.locked' });
  expect((await agent.refusal('up__write_note', { note: 'x' })).code).toMatch(/^audit\./);
});

test('[DECOY-6] values look like their kind and differ in everything else', () => {
  const entropy = createEntropy();
  const drawn = (kind: 'generic' | 'github' | 'aws'): string[] => Array.from({ length: 200 }, () => decoyValue(kind, entropy));
  for (const [kind, shape, prefix] of [
    ['generic', /^[A-Za-z0-9_-]{43}$/, 0],
    ['github', /^ghp_[A-Za-z0-9]{36}$/, 4],
    ['aws', /^AKIA[A-Z2-7]{16}$/, 4],
  ] as const) {
    const values = drawn(kind);
    expect(values.every((one) => shape.test(one))).toBe(true);
    expect(new Set(values).size).toBe(200);
    expect(new Set(values.map((one) => one[prefix])).size).toBeGreaterThan(10);
  }
  expect(decoyValue('github', { ...entropy, bytes: () => new Uint8Array(30) })).toBe(`ghp_${'0'.repeat(30)}${checksumOfZeros}`);
});

/** CRC-32 of thirty digits 0, 0x77e5db82 by zlib, in base 62. */
const checksumOfZeros = '2C8GjS';
