// Operations through the gateway: who reaches which, and signatures held against what is true when they are used.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import { createTestOperator } from '../../../test/support/test-operator.ts';

const policies = `
version: 1
agents:
  '*':
    capabilities:
      - { match: 'aws:deploy:*', effect: ask }
      - { match: 'up:call:*', effect: allow }
`;
const changed = {
  kind: 'conflict',
  code: 'operator.changed',
  message: 'What was shown has changed since it was signed; nothing was done.',
};

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, upstreams: { up: ['echo'] }, clock });
});
afterAll(() => house.close());

/** `[operation, code]` of the newest refusal on the record; a fresh second, so that none is only counted. */
async function lastRefusal(): Promise<unknown> {
  const { facts } = (await house.records('operation.refused')).at(-1) ?? {};
  clock.advance(1_000);
  return [facts?.['operation'], facts?.['code']];
}

async function question(): Promise<string> {
  const kimi = await house.agent();
  return kimi.ask('aws:deploy:prod');
}

describe('[OPER-5] what was shown is computed again before anything is done', () => {
  test('[OPER-5] a policy file edited between the showing and the signing is not adopted', async () => {
    const path = join(house.home, 'policies.yaml');
    writeFileSync(path, policies.replace('effect: ask', 'effect: allow'));
    const statement = await house.prepare('policy.adopt');
    writeFileSync(path, policies.replace("'aws:deploy:*', effect: ask", "'*:*:*', effect: allow"));
    const adoptions = (await house.records('policy.adopted')).length;
    await expect(house.decide('policy.adopt', {}, statement)).rejects.toMatchObject(changed);
    expect(await lastRefusal()).toEqual(['policy.adopt', 'operator.changed']);
    expect(await house.records('policy.adopted')).toHaveLength(adoptions);
    await expect(house.decide('policy.adopt', {}, statement)).rejects.toMatchObject({ code: 'operator.proof_invalid' });
    expect((await house.records('operator.refused')).at(-1)?.facts).toEqual({ operation: 'policy.adopt', reason: 'replayed' });
    writeFileSync(path, policies);
  });

  test('[OPER-5] an approval shown under one policy is not given under another', async () => {
    const id = await question();
    const statement = await house.prepare('approvals.approve', { id });
    await house.adopt(`${policies}# a remark\n`);
    await expect(house.decide('approvals.approve', { id }, statement)).rejects.toMatchObject(changed);
    expect(await house.local('approvals.show', { id })).toMatchObject({ state: 'pending' });
    await house.approve(id);
    await house.adopt(policies);
  });

  test('[OPER-5] of two decisions on one question the second is refused, on the record, and its signature is used up', async () => {
    const id = await question();
    const [yes, no] = [await house.prepare('approvals.approve', { id }), await house.prepare('approvals.deny', { id, reason: '' })];
    await house.decide('approvals.deny', { id, reason: '' }, no);
    await expect(house.decide('approvals.approve', { id }, yes)).rejects.toMatchObject({ code: 'approvals.not_pending' });
    expect(await lastRefusal()).toEqual(['approvals.approve', 'approvals.not_pending']);
    await expect(house.decide('approvals.approve', { id }, yes)).rejects.toMatchObject({ code: 'operator.proof_invalid' });
  });

  test('[OPER-5] [GRANT-3] what a new deny covers cannot be approved any more, neither shown nor signed', async () => {
    const id = await question();
    const statement = await house.prepare('approvals.approve', { id });
    await house.adopt(`${policies}limits: { deny: ['aws:*:*'] }\n`);
    try {
      await expect(house.decide('approvals.approve', { id }, statement)).rejects.toMatchObject({ code: 'policy.denied' });
      await expect(house.prepare('approvals.approve', { id })).rejects.toMatchObject({ code: 'policy.denied' });
    } finally {
      await house.adopt(policies);
    }
  });

  test('[OPER-1] a signature for one input or operation does nothing for another', async () => {
    const [one, other] = [await question(), await question()];
    for (const [operation, input] of [
      ['approvals.approve', { id: other }],
      ['approvals.approve', { id: one, ttl: '1m' }],
      ['approvals.deny', { id: one }],
    ] as const) {
      const statement = await house.prepare('approvals.approve', { id: one });
      await expect(house.decide(operation, input, statement)).rejects.toMatchObject({ code: 'operator.proof_invalid' });
    }
    const statement = await house.prepare('approvals.approve', { id: one });
    const proof = createTestOperator().prove(statement);
    const signal = new AbortController().signal;
    await expect(
      house.dispatch.operate({ kind: 'operator', proof }, 'approvals.approve', { id: one }, signal),
    ).rejects.toMatchObject({
      code: 'operator.proof_invalid',
    });
    expect(await house.local('approvals.show', { id: one })).toMatchObject({ state: 'pending' });
  });
});

describe('who reaches what', () => {
  test('[SEC-1] the local socket reaches no decision without a signature, and the attempt is on the record', async () => {
    const id = await question();
    for (const [operation, input] of [
      ['approvals.approve', { id }],
      ['agents.add', { name: 'mole' }],
      ['policy.adopt', {}],
      ['fleet.add', { name: 'evil', run: ['true'] }],
    ] as const) {
      await expect(house.local(operation, input)).rejects.toMatchObject({
        code: 'operator.proof_required',
        hint: 'Run it with the sallyport command, which asks for the passphrase.',
      });
      expect(await lastRefusal()).toEqual([operation, 'operator.proof_required']);
    }
  });

  test('[SEC-2] an agent reaches no operation but its own tools, under no name', async () => {
    const kimi = await house.agent();
    for (const { name, access } of house.dispatch.operations.filter(({ access }) => access !== 'agent')) {
      expect([access, (await kimi.refusal(name, {})).code]).toEqual([access, 'gateway.unknown_tool']);
      const signal = new AbortController().signal;
      for (const way of ['operate', 'prepare'] as const) {
        const attempt = house.dispatch[way](kimi.caller, name, {}, signal);
        await expect(attempt).rejects.toMatchObject({ code: 'gateway.not_reachable' });
      }
      clock.advance(1_000);
    }
  });

  test('a tool of agents is not for the socket, and what needs no signature is not prepared', async () => {
    await expect(house.local('gateway.can-i', { capability: 'a:b:c' })).rejects.toMatchObject({ code: 'gateway.not_reachable' });
    expect(await lastRefusal()).toEqual(['gateway.can-i', 'gateway.not_reachable']);
    await expect(house.prepare('approvals.list')).rejects.toMatchObject({
      code: 'gateway.misuse',
      message: "'approvals.list' needs no signature; run it directly.",
    });
    await expect(house.local('no.such')).rejects.toMatchObject({ code: 'gateway.unknown_operation' });
  });
});

test('[AUD-12] while nothing can be recorded no decision is shown or made, looks answer, and a signature given before is still good after', async () => {
  const id = await question();
  const statement = await house.prepare('approvals.approve', { id });
  const kimi = await house.agent();
  house.files.full = true;
  expect((await kimi.refusal('up__echo')).code).toBe('audit.unavailable');
  await expect(house.prepare('approvals.approve', { id })).rejects.toMatchObject({ code: 'audit.unavailable' });
  await expect(house.decide('approvals.approve', { id }, statement)).rejects.toMatchObject({ code: 'audit.unavailable' });
  expect(await house.local('approvals.show', { id })).toMatchObject({ state: 'pending' });
  house.files.full = false;
  await vi.waitFor(async () => {
    clock.advance(1_000);
    await kimi.text('up__echo', { message: 'back' });
  });
  expect(await house.decide('approvals.approve', { id }, statement)).toMatchObject({ state: 'approved' });
});
