// What a person does with what agents propose, through the whole gateway: two terminals, an edit and a crash in between included.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = `# ours
version: 1
limits:
  max_ttl: 30m
  rate_limit: 100000/s
  deny: ['aws:*:production']
agents:
  # everybody
  '*':
    capabilities:
      - { match: 'github:read:*', effect: allow } # look freely
      - { match: 'github:write:*', effect: ask }
  slow: { limits: { rate_limit: 2/m } }
`;
const tool = 'scopegate_propose_policy';

let clock: FakeClock;
let house: GatewayHouse;
let pendingFile: string;
let policyFile: string;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, clock });
  pendingFile = join(house.home, 'policies.pending.yaml');
  policyFile = join(house.home, 'policies.yaml');
});
afterAll(() => house.close());

const wish = (match: string, more: JsonObject = {}): JsonObject => ({ match, justification: 'Read invoices', ...more });
const numberOf = async (agent: HouseAgent, match: string, more: JsonObject = {}): Promise<number> =>
  Number((await agent.json(tool, wish(match, more)))['proposal']);
interface Row {
  readonly n: number;
  readonly agent: string;
  readonly [field: string]: unknown;
}
const review = async (all = false): Promise<readonly Row[]> =>
  ((await house.local('policy.review', { all })) as { proposals: Row[] }).proposals;
const rowOf = async (n: number): Promise<Row | undefined> => (await review(true)).find((row) => row.n === n);
const may = async (agent: HouseAgent, capability: string): Promise<unknown> =>
  (await agent.json('scopegate_can_i', { capability }))['decision'];

describe('a person decides', () => {
  test('[PROP-4] [PROP-5] accepting shows the change, adds one rule for this agent alone, and is in force at once', async () => {
    const [kimi, bob] = [await house.agent(), await house.agent()];
    const name = kimi.caller.agent;
    const n = await numberOf(kimi, 'stripe:read:*', { ttl: '10m' });
    const before = readFileSync(policyFile, 'utf8');
    const lines = [`+ section '${name}'`, `+ section '${name}': inherit '*'`, `+ section '${name}': allow stripe:read:*, ttl 10m`];
    expect(await rowOf(n)).toMatchObject({ n, state: 'pending', agent: name, match: 'stripe:read:*', ttl: '10m', changes: lines });
    const statement = await house.prepare('policy.accept', { n });
    expect(statement.shown).toMatchObject({
      decision: 'accept',
      proposal: n,
      agent: name,
      match: 'stripe:read:*',
      ttl: '10m',
      agent_says: '“Read invoices”',
      changes: lines.join('\n'),
      wider: `section '${name}': 'stripe:read:*' may now allow more, or for longer`,
    });
    const done = await house.decide('policy.accept', { n }, statement);
    expect(done).toMatchObject({ accepted: n, agent: name, version: statement.shown['to'] });
    const after = readFileSync(policyFile, 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(after.slice(before.length)).toBe(
      `  '${name}':\n    inherit: '*'\n    capabilities:\n      - { match: 'stripe:read:*', ttl: 10m, effect: allow }\n`,
    );
    expect(await house.local('policy.check')).toMatchObject({ state: 'in_force', ok: true });
    expect(await may(kimi, 'stripe:read:invoices')).toBe('allow');
    expect(await may(kimi, 'github:read:x')).toBe('allow');
    expect(await may(kimi, 'github:write:x')).toBe('needs_approval');
    expect(await may(bob, 'stripe:read:invoices')).toBe('deny');
    expect(await kimi.json('scopegate_request_capability', { capability: 'stripe:read:invoices', reason: 'r' })).toMatchObject({
      granted: true,
      expires_in_seconds: 600,
    });
    expect(readFileSync(pendingFile, 'utf8')).not.toContain(`agentId: "${name}"`);
    const records = (await house.records()).filter(
      ({ facts }) => facts?.['to'] === statement.shown['to'] || facts?.['proposal'] === n,
    );
    expect(records.map(({ event }) => event)).toEqual(['proposal.queued', 'policy.adopted', 'proposal.accepted']);
    expect(records[2]?.facts).toMatchObject({ agent: name, match: 'stripe:read:*', proof: { method: 'passphrase' } });
    const second = await numberOf(kimi, 'stripe:write:x');
    await house.decide('policy.accept', { n: second });
    expect(readFileSync(policyFile, 'utf8')).toBe(`${after}      - { match: 'stripe:write:x', effect: allow }\n`);
  });

  test('[PROP-5] what asked a person until now is allowed when that is what was accepted', async () => {
    const kimi = await house.agent();
    await house.decide('policy.accept', { n: await numberOf(kimi, 'github:write:docs/*') });
    expect(await may(kimi, 'github:write:docs/x')).toBe('allow');
    expect(await may(kimi, 'github:write:src/x')).toBe('needs_approval');
  });

  test('[PROP-5] a deny beats whatever is accepted', async () => {
    const kimi = await house.agent();
    await house.decide('policy.accept', { n: await numberOf(kimi, 'aws:*:*') });
    expect(await may(kimi, 'aws:write:staging')).toBe('allow');
    expect(await may(kimi, 'aws:write:production')).toBe('deny');
    expect(await may(kimi, 'aws:write:*')).toBe('deny');
  });

  test('[PROP-5] the person may shorten the ttl and cannot lengthen it', async () => {
    const kimi = await house.agent();
    const n = await numberOf(kimi, 'stripe:read:x', { ttl: '10m' });
    await expect(house.prepare('policy.accept', { n, ttl: '11m' })).rejects.toMatchObject({ code: 'policy.bad_ttl' });
    await expect(house.prepare('policy.accept', { n, ttl: '1d' })).rejects.toMatchObject({ code: 'policy.bad_ttl' });
    await house.decide('policy.accept', { n, ttl: '2m' });
    expect(readFileSync(policyFile, 'utf8')).toContain(`- { match: 'stripe:read:x', ttl: 2m, effect: allow }`);
  });

  test('[PROP-7] of two terminals that accept, or accept and reject, one wins', async () => {
    const kimi = await house.agent();
    for (const [operation, input] of [
      ['policy.accept', {}],
      ['policy.reject', { reason: 'no' }],
    ] as const) {
      const n = await numberOf(kimi, `race:read:${operation}`);
      const [mine, yours] = [await house.prepare('policy.accept', { n }), await house.prepare(operation, { n, ...input })];
      const ends = await Promise.allSettled([
        house.decide('policy.accept', { n }, mine),
        house.decide(operation, { n, ...input }, yours),
      ]);
      expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(house.rows()['policy_proposal']?.filter((row) => (row as Row).n === n)).toHaveLength(1);
      const decided = (await house.records()).filter(
        ({ event, facts }) => (event === 'proposal.accepted' || event === 'proposal.rejected') && facts?.['proposal'] === n,
      );
      expect(decided).toHaveLength(1);
      await expect(house.prepare('policy.accept', { n })).rejects.toMatchObject({ code: 'policy.not_pending' });
      expect(await house.local('policy.check')).toMatchObject({ state: 'in_force' });
    }
  });

  test('[PROP-7] [OPER-5] what was signed before the policy changed does nothing', async () => {
    const kimi = await house.agent();
    const [first, second] = [await numberOf(kimi, 'one:read:x'), await numberOf(kimi, 'two:read:x')];
    const statement = await house.prepare('policy.accept', { n: first });
    await house.decide('policy.accept', { n: second });
    await expect(house.decide('policy.accept', { n: first }, statement)).rejects.toMatchObject({ code: 'operator.changed' });
    expect(await may(kimi, 'one:read:x')).toBe('deny');
    await house.decide('policy.accept', { n: first });
    expect(await may(kimi, 'one:read:x')).toBe('allow');
  });

  test('[PROP-7] while the file says something unsigned nothing is accepted, and it says what to do', async () => {
    const kimi = await house.agent();
    const n = await numberOf(kimi, 'edited:read:x');
    const good = readFileSync(policyFile, 'utf8');
    const statement = await house.prepare('policy.accept', { n });
    writeFileSync(policyFile, good.replace('github:write:*', 'github:none:*').replace('effect: ask', 'effect: allow'));
    await expect(house.decide('policy.accept', { n }, statement)).rejects.toMatchObject({
      code: 'policy.edited',
      hint: expect.stringContaining('sallyport policies adopt') as string,
    });
    await expect
      .poll(async () => (await house.local('policy.review')) as object)
      .toMatchObject({ blocked: expect.stringContaining('was edited') as string });
    expect(await may(kimi, 'edited:read:x')).toBe('deny');
    writeFileSync(policyFile, good);
    await house.decide('policy.accept', { n });
    expect(await may(kimi, 'edited:read:x')).toBe('allow');
  });

  test('[PROP-5] a daemon that died between the file and the commit is gone on with', async () => {
    const kimi = await house.agent();
    const n = await numberOf(kimi, 'crash:read:x');
    const { shown } = await house.prepare('policy.accept', { n });
    const good = readFileSync(policyFile, 'utf8');
    const lines = (shown['policies_yaml'] as string)
      .split('\n')
      .slice(1)
      .map((line) => `${line.slice(2)}\n`);
    writeFileSync(policyFile, good + lines.join(''));
    expect(await may(kimi, 'crash:read:x')).toBe('deny');
    await house.decide('policy.accept', { n });
    expect(await may(kimi, 'crash:read:x')).toBe('allow');
  });

  test('[PROP-7] a rejection says why to the agent, for ten minutes, and nothing of it is in force', async () => {
    const kimi = await house.agent();
    const n = await numberOf(kimi, 'stripe:read:x', { ttl: '5m' });
    await expect(house.local('policy.reject', { n, reason: 'use the sandbox' })).rejects.toMatchObject({
      code: 'operator.proof_required',
    });
    await expect(house.local('policy.accept', { n })).rejects.toMatchObject({ code: 'operator.proof_required' });
    await house.decide('policy.reject', { n, reason: 'use the sandbox' });
    expect(await kimi.json(tool, wish('stripe:read:x', { ttl: '5m' }))).toEqual({
      queued: false,
      deduped: false,
      pending_file: pendingFile,
      proposal: n,
      status: 'rejected',
      reason: 'use the sandbox',
      retry_after_s: 600,
      note: 'A human rejected this proposal. Do not propose the same again; choose another way or talk to the human.',
    });
    expect(await may(kimi, 'stripe:read:x')).toBe('deny');
    expect(await rowOf(n)).toMatchObject({ state: 'rejected', reason: 'use the sandbox' });
    clock.advance(600_000);
    expect(await kimi.json(tool, wish('stripe:read:x', { ttl: '5m' }))).toMatchObject({ queued: true });
  });

  test('[PROP-2] an agent can neither review nor decide', async () => {
    const kimi = await house.agent();
    const never = new AbortController().signal;
    for (const operation of ['policy.review', 'policy.accept', 'policy.reject'])
      await expect(house.dispatch.operate(kimi.caller, operation, { n: 1, reason: 'x' }, never)).rejects.toMatchObject({
        code: 'gateway.not_reachable',
      });
  });
});
