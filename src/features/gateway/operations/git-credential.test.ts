import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commitmentInput } from '../../../kernel/carried-secret.ts';
import { asAppError, type AppError } from '../../../kernel/errors.ts';
import { encodeBase64url } from '../../../lib/base64url.ts';
import { startGithubApp, type GithubApp } from '../../../../test/fixtures/providers/github-app.ts';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../../test/support/house-agent.ts';

const policies = `version: 1
limits: { deny: ['git:credential:github.com/acme/secret*'] }
agents:
  '*':
    default_ttl: 10m
    capabilities:
      - { match: 'git:credential:github.com/acme/web', effect: ask }
      - { match: 'git:credential:*', effect: allow }
  other:
    capabilities:
      - { match: 'fs:call:*', effect: allow }
`;
const repositories = ['api', 'web', 'secret-plans'];

let house: GatewayHouse;
let clock: FakeClock;
let github: GithubApp;
let agent: HouseAgent;

interface Given {
  readonly username: string;
  readonly password: string;
  readonly password_expiry_utc: number;
}

async function addKey(): Promise<void> {
  const [value, salt] = [new TextEncoder().encode(github.privateKey), new Uint8Array(32).fill(7)];
  const value_commitment = encodeBase64url(createHash('sha256').update(commitmentInput('value', { value, salt })).digest());
  const input = { ref: 'app_key', size: 4_096, value_commitment };
  const proof = house.operator.prove(await house.prepare('vault.add-secret', input));
  const never = new AbortController().signal;
  await house.dispatch.operate({ kind: 'operator', proof }, 'vault.add-secret', input, never, { value: { value, salt } });
}

const entry = () => ({
  account: 'github.com/Acme',
  app_id: '4711',
  installation_id: '815',
  secret_ref: 'app_key',
  api_url: github.url,
});

beforeEach(async () => {
  clock = createFakeClock(Date.now());
  github = await startGithubApp({ now: () => clock.now(), repositories });
  house = await openGatewayHouse({ policies, clock });
  await addKey();
  await house.decide('git.allow', entry());
  agent = await house.agent();
}, 30_000);
afterEach(async () => {
  await house.close();
  await github.stop();
});

const run = (operation: string, path: string, who: HouseAgent, more: object): Promise<unknown> =>
  house.dispatch.operate(
    who.caller,
    operation,
    { protocol: 'https', host: 'github.com', path, ...more },
    new AbortController().signal,
  );
const get = async (path: string, who = agent, more: object = {}) => (await run('gateway.git-credential', path, who, more)) as Given;
const refusal = (path: string, who = agent, more: object = {}): Promise<AppError> =>
  get(path, who, more).then(() => {
    throw new Error('it was given');
  }, asAppError);

test('[GIT-3] a token is for the one repository, of the access of the entry, and as long as the grant', async () => {
  const given = await get('acme/api.git');
  const [issued] = github.issued;
  expect(issued).toMatchObject({
    repositories: ['api'],
    permissions: { contents: 'read', metadata: 'read' },
    token: given.password,
  });
  expect(given.username).toBe('x-access-token');
  expect(given.password_expiry_utc * 1_000 - clock.now()).toBeLessThanOrEqual(600_000);
  expect(given.password_expiry_utc * 1_000 - clock.now()).toBeGreaterThan(590_000);
  await house.decide('git.allow', { ...entry(), account: 'ghe.acme.example/acme', access: 'write' });
  await get('acme/api', agent, { host: 'ghe.acme.example' });
  expect(github.issued[1]).toMatchObject({ repositories: ['api'], permissions: { contents: 'write' } });
});

test('[GIT-3] while its time lasts the same token is given again, to the same agent and for the same repository only', async () => {
  const [first, second] = [await get('acme/api.git'), await get('Acme/API')];
  expect(second).toEqual(first);
  const other = await house.agent();
  const tokens = [(await get('acme/api', other)).password, first.password];
  expect(new Set(tokens).size).toBe(2);
  clock.advance(601_000);
  expect((await get('acme/api')).password).not.toBe(first.password);
});

test('[GIT-4] a token is taken back at the end of its grant, of its agent, and of its entry', async () => {
  const [api, other] = [await get('acme/api'), await house.agent('kim')];
  const theirs = await get('acme/api', other);
  const live = (): string[] => github.issued.filter(({ revoked }) => !revoked).map(({ token }) => token);
  const settled = async (expected: readonly string[]): Promise<void> => expect.poll(live).toEqual(expected);
  await settled([api.password, theirs.password]);
  await house.local('agents.suspend', { name: 'kim' });
  await settled([api.password]);
  clock.advance(601_000);
  await settled([]);
  const again = await get('acme/api');
  await settled([again.password]);
  await house.local('git.disallow', { account: 'github.com/acme' });
  await settled([]);
  expect(await refusal('acme/api')).toMatchObject({ code: 'git.not_listed' });
});

test.each([
  [
    'its agent is suspended',
    (): Promise<unknown> => house.local('agents.suspend', { name: agent.caller.agent }),
    'agents.suspended',
  ],
  ['its entry is taken off', (): Promise<unknown> => house.local('git.disallow', { account: 'github.com/acme' }), 'git.not_listed'],
  ['a deny comes into force', () => house.adopt(policies.replace('acme/secret*', 'acme/*')), 'policy.denied'],
])('[GIT-4] a token that comes when %s is handed to nobody and taken back', async (_when, end, code) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  github.hold = promise;
  const asked = refusal('acme/api');
  await expect.poll(() => github.requests.length).toBe(1);
  await end();
  resolve();
  expect(await asked).toMatchObject({ code });
  await expect.poll(() => github.issued.map(({ revoked }) => revoked)).toEqual([true]);
});

test('[GIT-4] what git says was refused is taken back, and the next question gets another one', async () => {
  const first = await get('acme/api');
  await run('gateway.git-forget', 'acme/api.git', agent, {});
  await expect.poll(() => github.issued[0]?.revoked).toBe(true);
  expect((await get('acme/api')).password).not.toBe(first.password);
  // Nobody forgets what another one was given.
  await run('gateway.git-forget', 'acme/api', await house.agent(), {});
  expect(github.issued.map(({ revoked }) => revoked)).toEqual([true, false]);
});

test('[GIT-5] a deny is a deny whether or not there is such a repository, and in every spelling', async () => {
  for (const path of ['acme/secret-plans', 'ACME/Secret-Plans.git', 'acme/secret-none']) {
    expect(await refusal(path)).toMatchObject({ code: 'policy.denied', kind: 'denied' });
  }
  expect(await refusal('acme/api', await house.agent('other'))).toMatchObject({ code: 'policy.denied' });
  expect(github.requests).toEqual([]);
});

test('[GIT-5] where a person is asked nothing is given until that person agreed, and then once', async () => {
  const asked = await refusal('acme/web');
  expect(asked).toMatchObject({ code: 'approvals.pending' });
  const id = String(asked.data?.['approval_id']);
  expect(asked.hint).toContain(`scopegate approve ${id}`);
  expect(github.requests).toEqual([]);
  const { shown } = await house.prepare('approvals.approve', { id });
  expect(shown).toMatchObject({
    capability: 'git:credential:github.com/acme/web',
    arguments: { host: 'github.com', repository: 'acme/web', access: 'read' },
  });
  await house.approve(id);
  await get('acme/web');
  expect(await refusal('acme/web')).toMatchObject({ code: 'approvals.pending' });
  expect(github.issued).toMatchObject([{ repositories: ['web'] }]);
});

test('[GIT-5] an agent may ask for a repository beforehand, and then needs nobody for the time of the grant', async () => {
  await house.approve(await agent.ask('git:credential:github.com/acme/web'));
  expect((await get('acme/web')).password).toBe((await get('acme/web')).password);
});

test('[GIT-6] entering an account is a decision of the operator, an agent reaches neither it nor what was entered', async () => {
  await expect(house.local('git.allow', { ...entry(), account: 'github.com/evil' })).rejects.toMatchObject({
    code: 'operator.proof_required',
  });
  for (const operation of ['git.allow', 'git.disallow', 'git.list']) {
    await expect(run(operation, '', agent, {})).rejects.toMatchObject({ code: 'gateway.not_reachable' });
  }
  await expect(
    house.local('gateway.git-credential', { protocol: 'https', host: 'github.com', path: 'acme/api' }),
  ).rejects.toMatchObject({ code: 'gateway.not_reachable' });
  const { shown } = await house.prepare('git.allow', { ...entry(), account: 'github.com/evil' });
  expect(shown).toEqual({
    account: 'github.com/evil',
    access: 'read',
    app: { app_id: '4711', installation_id: '815', secret_ref: 'app_key', api_url: github.url },
    entered_already: ['github.com/acme'],
  });
  await expect(house.decide('git.allow', entry())).rejects.toMatchObject({ code: 'git.entry_exists' });
  for (const wrong of [
    { account: 'github.com' },
    { installation_id: '1/../2' },
    { api_url: 'http://ghe.example' },
    { account: 'ghe.example/acme', api_url: undefined },
  ]) {
    await expect(house.decide('git.allow', { ...entry(), ...wrong })).rejects.toMatchObject({ code: 'git.bad_entry' });
  }
});

test('[GIT-7] the record has intent, outcome and refusals, and neither the token nor the key is in it or in the database', async () => {
  const { password } = await get('acme/api');
  await refusal('acme/secret-plans');
  await refusal('acme/api', agent, { host: 'github.com.evil.org' });
  const [intent] = await house.records('call.intent');
  expect(intent?.facts).toMatchObject({ capability: 'git:credential:github.com/acme/api', ref: 'app_key' });
  const outcomes = (await house.records('call.outcome')).filter((record) => record.intent === intent?.id);
  expect(outcomes).toMatchObject([{ facts: { outcome: 'ok' } }]);
  expect((await house.records('call.refused')).map(({ facts }) => facts?.['code'])).toEqual(['policy.denied', 'git.not_listed']);
  const everything = house.recordText() + JSON.stringify(house.rows());
  expect(everything).not.toContain(password);
  expect(everything).not.toContain(github.privateKey.split('\n')[1]);
});

test('[GIT-6] whoever removes or rotates the key is told that git is given tokens made from it', async () => {
  const { shown } = await house.prepare('vault.remove-secret', { ref: 'app_key' });
  expect(shown).toMatchObject({ used_by: ['git'] });
  expect(await agent.json('scopegate_vault_status')).toEqual({ secret_refs: ['app_key'] });
  await house.local('git.disallow', { account: 'github.com/acme' });
  expect((await house.prepare('vault.remove-secret', { ref: 'app_key' })).shown).toMatchObject({ used_by: [] });
});

test('[GIT-7] when nothing can be recorded nothing is given', async () => {
  await get('acme/api');
  house.files.full = true;
  expect((await refusal('acme/api')).code).toBe('audit.unavailable');
  house.files.full = false;
});

test('[GIT-3] what GitHub refuses or does not answer is told in words, and the next question tries again', async () => {
  github.fault = 'unavailable';
  expect(await refusal('acme/api')).toMatchObject({ code: 'auth.unreachable' });
  github.fault = undefined;
  expect(await refusal('acme/none')).toMatchObject({ code: 'auth.refused' });
  await get('acme/api');
});
