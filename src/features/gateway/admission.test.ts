// May it? Calls against the real policy, grants and approvals, with an upstream that counts what reaches it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { JsonObject } from '../../kernel/json.ts';

const minute = 60_000;
const policies = `
version: 1
agents:
  'kimi-*':
    limits: { rate_limit: 1000/s }
    capabilities:
      - { match: 'up:call:{echo,params,pid}', effect: allow, ttl: 10m }
      - { match: 'up:call:write_note', effect: allow, when: { note: 'draft*' } }
      - { match: 'up:call:add', effect: ask, when: { a: 1 } }
      - { match: 'up:call:{add,env}', effect: ask }
      - { match: 'tally:call:*', effect: ask, ttl: 20m }
`;

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, upstreams: { up: ['echo'], tally: ['counting', 'tally.txt'] }, clock });
});
afterAll(() => house.close());

/** How many calls with this tag the upstream saw. */
const hits = (tag: string): number =>
  readFileSync(join(house.home, 'tally.txt'), 'utf8')
    .split('\n')
    .filter((line) => line === `hit ${tag}`).length;

const held = async (kimi: HouseAgent): Promise<readonly JsonObject[]> =>
  (await kimi.json('scopegate_list_capabilities'))['active_grants'] as readonly JsonObject[];

const issuedTo = async ({ caller }: HouseAgent): Promise<number> =>
  (await house.records('grant.issued')).filter(({ facts }) => facts?.['agent'] === caller.agent).length;

const approvalIn = async (refusal: Promise<{ readonly data?: Readonly<Record<string, unknown>> | undefined }>): Promise<string> =>
  String((await refusal).data?.['approval_id']);

describe('grants', () => {
  test('[GRANT-1] a first call that policy allows issues its literal grant, and later calls stand on it', async () => {
    const kimi = await house.agent();
    expect(await kimi.text('up__echo', { message: 'one' })).toBe('one');
    const [grant] = await held(kimi);
    expect(grant).toMatchObject({ capability: 'up:call:echo', remaining_seconds: 600 });
    await kimi.text('up__echo', { message: 'two' });
    expect(await issuedTo(kimi)).toBe(1);
    const intents = (await house.records('call.intent')).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
    expect(intents.map(({ facts }) => facts?.['grant'])).toEqual([grant?.['id'], grant?.['id']]);
    clock.advance(10 * minute);
    await kimi.text('up__echo', { message: 'three' });
    expect(await issuedTo(kimi)).toBe(2);
  });

  test('[GRANT-1] first calls at the same time share one grant', async () => {
    const kimi = await house.agent();
    await Promise.all(Array.from({ length: 8 }, (_, at) => kimi.text('up__echo', { message: String(at) })));
    expect(await issuedTo(kimi)).toBe(1);
  });

  test('[GRANT-1] what one agent holds is nothing to another', async () => {
    const [kimi, other] = [await house.agent(), await house.agent()];
    await house.approve(await kimi.ask('tally:call:hit'));
    await kimi.text('tally__hit', { tag: 'mine' });
    expect((await other.refusal('tally__hit', { tag: 'mine' })).code).toBe('approvals.pending');
    expect(hits('mine')).toBe(1);
  });

  test('[GRANT-3] a deny that comes into force bites the next call under a live grant, human or not', async () => {
    const kimi = await house.agent();
    await house.approve(await kimi.ask('tally:call:*'));
    await kimi.text('tally__hit', { tag: 'before' });
    await kimi.text('up__echo', { message: 'x' });
    await house.adopt(policies.replace('limits: {', "limits: { deny: ['tally:*:*', 'up:call:e*'],"));
    try {
      expect(await held(kimi)).toHaveLength(2);
      for (const name of ['tally__hit', 'up__echo']) {
        expect(await kimi.refusal(name, { tag: 'before' })).toMatchObject({
          code: 'policy.denied',
          data: { deny: 'ceiling_blocked' },
        });
      }
      expect(hits('before')).toBe(1);
    } finally {
      await house.adopt(policies);
    }
    await kimi.text('tally__hit', { tag: 'before' });
    expect(hits('before')).toBe(2);
  });

  test('[GRANT-3] a rule that comes to ask is not met by a grant that policy gave', async () => {
    const kimi = await house.agent();
    await kimi.text('up__echo', { message: 'x' });
    await house.adopt(policies.replace('effect: allow, ttl: 10m', 'effect: ask'));
    try {
      expect((await kimi.refusal('up__echo', { message: 'x' })).code).toBe('approvals.pending');
    } finally {
      await house.adopt(policies);
    }
  });
});

describe('approvals born from a call', () => {
  test('[APPR-1] the refusal is the sentence of the page, and the person is shown everything the call is', async () => {
    const kimi = await house.agent();
    const args = { tag: 'shown', count: 3 };
    const refusal = await kimi.refusal('tally__hit', args);
    const [open] = await house.open(kimi);
    const id = open?.approval_id ?? '';
    expect(refusal.message).toBe(
      "ERROR: Capability 'tally:call:hit' not granted. Call scopegate_request_capability first (or scopegate_propose_policy if denied). " +
        "Reason: Capability 'tally:call:hit' matches 'tally:call:*' which requires human approval. " +
        `Approval request ${id} is pending — ask the human to run: scopegate approve ${id}`,
    );
    expect(JSON.parse((await kimi.reads('tally__hit', args)).text)).toMatchObject({
      error: true,
      kind: 'missing_scope',
      next_step: `Ask the human to run: scopegate approve ${id}. Then make the same call again with the same arguments.`,
    });
    expect(await house.local('approvals.show', { id })).toMatchObject({
      agent: kimi.caller.agent,
      capability: 'tally:call:hit',
      args,
      origin: 'call',
      ttl: '20m',
      expires_at: new Date(clock.now() + 10 * minute).toISOString(),
    });
    const { shown } = await house.prepare('approvals.approve', { id });
    expect(shown).toMatchObject({ arguments: args, tool_definition: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    expect(hits('shown')).toBe(0);
  });

  test('[APPR-1] the same call asks the same question, whatever the order of its keys; other arguments ask another', async () => {
    const kimi = await house.agent();
    const id = await approvalIn(kimi.refusal('tally__hit', { tag: 'a', n: 1 }));
    expect(await approvalIn(kimi.refusal('tally__hit', { n: 1, tag: 'a' }))).toBe(id);
    expect(await approvalIn(kimi.refusal('tally__hit', { tag: 'a', n: 2 }))).not.toBe(id);
    expect(await approvalIn(kimi.refusal('tally__hit', {}))).not.toBe(await approvalIn(kimi.refusal('tally__hit')));
  });

  test('[APPR-2] it buys one execution of exactly those arguments, and a second one asks again', async () => {
    const kimi = await house.agent();
    const id = await approvalIn(kimi.refusal('tally__hit', { tag: 'once', n: 1 }));
    await house.approve(id);
    expect((await kimi.refusal('tally__hit', { tag: 'once', n: 2 })).code).toBe('approvals.pending');
    expect(hits('once')).toBe(0);
    expect(await kimi.text('tally__hit', { n: 1, tag: 'once' })).toBe('hit');
    expect(await approvalIn(kimi.refusal('tally__hit', { tag: 'once', n: 1 }))).not.toBe(id);
    expect(hits('once')).toBe(1);
    expect(await held(kimi)).toEqual([]);
    const intents = (await house.records('call.intent')).filter(({ facts }) => facts?.['approval'] === id);
    expect(intents).toHaveLength(1);
  });

  test('[APPR-2] of many who come at once for one approval exactly one is served', async () => {
    const kimi = await house.agent();
    await house.approve(await approvalIn(kimi.refusal('tally__hit', { tag: 'race' })));
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => kimi.call('tally__hit', { tag: 'race' })));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(hits('race')).toBe(1);
  });

  test('[APPR-2] it is used within the approval ttl and under the policy it was decided under, or asks again', async () => {
    const kimi = await house.agent();
    await house.approve(await approvalIn(kimi.refusal('tally__hit', { tag: 'late' })));
    clock.advance(10 * minute);
    expect((await kimi.refusal('tally__hit', { tag: 'late' })).code).toBe('approvals.pending');
    await house.approve((await house.open(kimi))[0]?.approval_id ?? '');
    await house.adopt(`${policies}# another text\n`);
    expect((await kimi.refusal('tally__hit', { tag: 'late' })).code).toBe('approvals.pending');
    expect(hits('late')).toBe(0);
  });

  test('[APPR-4] [TOOL-7] a denied call is told why, again for ten minutes, as an envelope for the human', async () => {
    const kimi = await house.agent();
    await house.deny(await approvalIn(kimi.refusal('tally__hit', { tag: 'no' })), 'use staging');
    clock.advance(minute);
    const { text, isError } = await kimi.reads('tally__hit', { tag: 'no' });
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toEqual({
      error: true,
      kind: 'policy_denied',
      message: 'A human denied this request: use staging',
      retry_after_s: 540,
      next_action: 'human',
      next_step: 'Do not ask again for the same thing; choose another way or talk to the human.',
    });
    expect((await kimi.refusal('tally__hit', { tag: 'other' })).code).toBe('approvals.pending');
  });
});

describe('arguments and guards', () => {
  test('[POL-10] a guarded rule lets only matching arguments through', async () => {
    const kimi = await house.agent();
    expect(await kimi.text('up__write_note', { note: 'draft 1' })).toBe('noted draft 1');
    for (const args of [{ note: 'final' }, {}, { note: 7 }, { notes: 'draft' }]) {
      expect(await kimi.refusal('up__write_note', args)).toMatchObject({ code: 'policy.denied', data: { deny: 'no_rule' } });
    }
    expect(await kimi.text('up__write_note', { note: 'draft 2' })).toBe('noted draft 2');
  });

  test('[APPR-3] [POL-10] a grant a person gave serves any arguments, but none that the guards it was shown with exclude', async () => {
    const kimi = await house.agent();
    await house.approve(await kimi.ask('up:call:env'));
    await kimi.call('up__env', { any: 'thing' });

    const id = await kimi.ask('up:call:add');
    const { shown } = await house.prepare('approvals.approve', { id });
    expect(shown).toMatchObject({ buys: expect.stringContaining('satisfy its guards') as string, guards: [{ a: 1 }] });
    await house.approve(id);
    expect(await kimi.text('up__add', { a: 1, b: 2 })).toBe('{"sum":3}');
    for (const args of [{ a: 2, b: 2 }, { b: 2 }, { a: '1', b: 2 }]) {
      expect((await kimi.refusal('up__add', args)).code).toBe('approvals.pending');
    }
    expect(await kimi.text('up__add', { a: 1, b: 5 })).toBe('{"sum":6}');
  });
});
