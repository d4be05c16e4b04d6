// scopegate_request_capability as an agent meets it: every shape of its page, from the real policy, grants, approvals and record.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { JsonObject } from '../../../kernel/json.ts';

const minute = 60_000;
const policies = `
version: 1
limits:
  max_ttl: 30m
  deny: ['aws:*:production']
agents:
  'kimi-*':
    default_ttl: 20m
    capabilities:
      - { match: 'github:read:*', effect: allow, ttl: 10m }
      - { match: 'github:write:*', effect: allow }
      - { match: 'github:admin:*', effect: allow, ttl: 2h }
      - { match: 'aws:deploy:*', effect: ask, ttl: 15m }
`;
const tool = 'scopegate_request_capability';

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, clock });
});
afterAll(() => house.close());

const request = (capability: string, more: JsonObject = {}): JsonObject => ({ capability, reason: 'Open the fix PR', ...more });

describe('granted', () => {
  test('[TOOL-1] [GRANT-1] what a rule allows is granted at once, as pretty JSON, with its record', async () => {
    const kimi = await house.agent();
    const { text, isError } = await kimi.reads(tool, request('github:read:easyorder'));
    const answer = {
      granted: true,
      capability: 'github:read:easyorder',
      expires_in_seconds: 600,
      matched_rule: 'github:read:*',
    };
    expect({ text, isError }).toEqual({ text: JSON.stringify(answer, null, 2), isError: false });
    const mine = (await house.records()).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
    expect(mine.map(({ event }) => event)).toEqual(['capability.requested', 'grant.issued']);
    expect(mine[1]?.facts).toMatchObject({ capability: 'github:read:easyorder', origin: 'policy', ttl_ms: 10 * minute });
  });

  test('[TOOL-1] [GRANT-1] a held capability answers existing_grant with the time that is left, and issues nothing', async () => {
    const kimi = await house.agent();
    await kimi.call(tool, request('github:read:*'));
    clock.advance(minute);
    const before = house.rows()['grants_grant'];
    expect(await kimi.json(tool, request('github:read:easyorder', { ttl: '5m' }))).toEqual({
      granted: true,
      capability: 'github:read:easyorder',
      expires_in_seconds: 540,
      matched_rule: 'existing_grant',
    });
    expect(house.rows()['grants_grant']).toEqual(before);
    clock.advance(9 * minute);
    expect(await kimi.json(tool, request('github:read:easyorder'))).toMatchObject({ matched_rule: 'github:read:*' });
  });

  test.each<[string, string | undefined, number, string]>([
    ['github:read:x', undefined, 600, 'the rule says'],
    ['github:read:x', '5m', 300, 'the agent asked for'],
    ['github:read:x', '1h', 600, 'the rule says, however long was asked for'],
    ['github:write:x', undefined, 1_200, 'the default says where the rule is silent'],
    ['github:write:x', '90s', 90, 'the agent asked for below the default'],
    ['github:admin:x', undefined, 1_800, 'the global ceiling says where the rule would give more'],
    ['github:admin:x', '2h', 1_800, 'the global ceiling says, whatever rule and agent want'],
  ])('[GRANT-2] %s with ttl %s lasts %i s: what %s', async (capability, ttl, seconds) => {
    const kimi = await house.agent();
    const answer = await kimi.json(tool, request(capability, ttl === undefined ? {} : { ttl }));
    expect(answer).toMatchObject({ granted: true, expires_in_seconds: seconds });
    const held = async (): Promise<unknown> => (await kimi.json('scopegate_list_capabilities'))['active_grants'];
    expect(await held()).toMatchObject([{ capability, remaining_seconds: seconds }]);
    clock.advance(seconds * 1_000);
    expect(await held()).toEqual([]);
  });
});

describe('denied', () => {
  test.each([
    [
      'stripe:write:*',
      {},
      'no_rule',
      /^No auto_approve rule matches 'stripe:write:\*' for agent 'kimi-\d+'\.$/,
      /^Call scopegate_propose_policy/,
    ],
    [
      'aws:deploy:production',
      {},
      'ceiling_blocked',
      /blocked by the hard limit 'aws:\*:production'/,
      /^Hard limit — do NOT attempt/,
    ],
    ['aws:deploy:*', {}, 'ceiling_blocked', /blocked by the hard limit/, /^Hard limit/],
    [
      'github:read:x',
      { ttl: '1d' },
      'invalid_ttl',
      /^Invalid ttl '1d' — expected '<n>s', '<n>m' or '<n>h'\.$/,
      /^Ask again with a ttl/,
    ],
    ['github:read:x', { ttl: '0m' }, 'invalid_ttl', /more than zero/, /^Ask again with a ttl/],
  ])('[TOOL-1] %s %j answers code %s', async (capability, more, code, reason, next) => {
    const kimi = await house.agent();
    expect(await kimi.reads(tool, request(capability, more))).toMatchObject({ isError: false });
    expect(await kimi.json(tool, request(capability, more))).toEqual({
      granted: false,
      code,
      reason: expect.stringMatching(reason) as string,
      next_step: expect.stringMatching(next) as string,
    });
    expect(await kimi.json('scopegate_list_capabilities')).toMatchObject({ active_grants: [] });
  });

  test('[TOOL-1] a denial is on the record with its code, and what was asked for only as a digest', async () => {
    const kimi = await house.agent();
    await kimi.call(tool, request('stripe:write:salaries-2026'));
    const denial = (await house.records('capability.denied')).find(({ actor }) => actor === `agent:${kimi.caller.agent}`);
    expect(denial).toMatchObject({ facts: { code: 'no_rule' }, sealed: { capability: expect.any(String) as string } });
    expect(house.recordText()).not.toContain('salaries-2026');
  });

  test('[TOOL-1] an agent no section speaks of gets no_policy and is sent to the human', async () => {
    const stranger = await house.agent('stranger');
    expect(await stranger.json(tool, request('github:read:x'))).toEqual({
      granted: false,
      code: 'no_policy',
      reason: "No policy section matches agent 'stranger'.",
      next_step: 'Tell the human what the reason says; only they can change it.',
    });
  });

  test('[TOOL-1] a policy file nobody can read answers config_error until it is back', async () => {
    const kimi = await house.agent();
    const path = join(house.home, 'policies.yaml');
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
    const soon = { timeout: 8_000, interval: 20 };
    await vi.waitFor(
      async () => expect(await kimi.json('scopegate_can_i', { capability: 'a:b:c' })).toMatchObject({ code: 'config_error' }),
      soon,
    );
    expect(await kimi.json(tool, request('github:read:x'))).toEqual({
      granted: false,
      code: 'config_error',
      reason: 'The policy file cannot be read: everything is denied until a human repairs it.',
      next_step: 'Tell the human what the reason says; only they can change it.',
    });
    rmSync(path);
    writeFileSync(path, policies);
    await vi.waitFor(async () => expect(await kimi.json(tool, request('github:read:x'))).toMatchObject({ granted: true }), soon);
  });
});

describe('pending', () => {
  const asked = request('aws:deploy:staging', { ttl: '12m' });

  test('[TOOL-1] [APPR-1] what asks a person answers pending_human_approval with the command to relay', async () => {
    const kimi = await house.agent();
    const answer = await kimi.json(tool, asked);
    const id = await kimi.ask('aws:deploy:staging', { ttl: '12m' });
    expect(answer).toEqual({
      granted: false,
      status: 'pending_human_approval',
      approval_id: id,
      approval_expires_at: new Date(clock.now() + 10 * minute).toISOString(),
      reason: "Capability 'aws:deploy:staging' matches 'aws:deploy:*' which requires human approval.",
      instructions:
        `A human must approve this request. Ask them to run in their terminal: scopegate approve ${id} (or: scopegate deny ${id}). ` +
        'Once approved, call scopegate_request_capability again with the SAME capability — do NOT retry with broader scope.',
      next_step: 'Ask the human to approve this action, or wait for approval.',
    });
    expect(await house.local('approvals.show', { id })).toMatchObject({
      agent: kimi.caller.agent,
      capability: 'aws:deploy:staging',
      ttl: '12m',
      reason: 'Open the fix PR',
      expires_at: answer['approval_expires_at'],
      buys: `a grant for aws:deploy:staging to ${kimi.caller.agent} for 12m with any arguments`,
    });
  });

  test('[APPR-1] asking again, in other words too, is the same question and leaves one to decide', async () => {
    const kimi = await house.agent();
    const first = await kimi.json(tool, asked);
    clock.advance(minute);
    expect(await kimi.json(tool, { ...asked, reason: 'pretty please' })).toEqual(first);
    expect(await house.open(kimi)).toHaveLength(1);
    expect(await kimi.json(tool, { ...asked, ttl: '5m' })).not.toMatchObject({ approval_id: first['approval_id'] });
  });

  test('[TOOL-1] [APPR-3] once approved, the same request is answered with the grant, for its ttl and no longer', async () => {
    const kimi = await house.agent();
    await house.approve(await kimi.ask('aws:deploy:staging', { ttl: '12m' }));
    expect(await kimi.json(tool, asked)).toEqual({
      granted: true,
      capability: 'aws:deploy:staging',
      expires_in_seconds: 720,
      matched_rule: 'existing_grant',
    });
    clock.advance(12 * minute);
    expect(await kimi.json(tool, asked)).toMatchObject({ status: 'pending_human_approval' });
  });

  test('[APPR-3] [GRANT-2] the person may shorten the ttl and cannot lengthen it, nor can the agent beyond the rule', async () => {
    const kimi = await house.agent();
    const id = await kimi.ask('aws:deploy:staging', { ttl: '2h' });
    expect(await house.local('approvals.show', { id })).toMatchObject({ ttl: '15m' });
    await expect(house.approve(id, { ttl: '16m' })).rejects.toMatchObject({ code: 'approvals.bad_ttl' });
    await house.approve(id, { ttl: '5m' });
    expect(await kimi.json(tool, request('aws:deploy:staging'))).toMatchObject({ expires_in_seconds: 300 });
  });

  test('[APPR-4] a denial comes with its reason, to the same question for ten minutes, and then the question is open again', async () => {
    const kimi = await house.agent();
    const approval_id = await kimi.ask('aws:deploy:staging', { ttl: '12m' });
    await house.deny(approval_id, 'not before the audit');
    const denial = {
      granted: false,
      status: 'denied',
      approval_id,
      reason: 'not before the audit',
      retry_after_s: 600,
      next_step: 'Do not ask again for the same thing; choose another way or talk to the human.',
    };
    expect(await kimi.json(tool, asked)).toEqual(denial);
    clock.advance(30_500);
    expect(await kimi.json(tool, asked)).toEqual({ ...denial, retry_after_s: 570 });
    clock.advance(10 * minute - 30_501);
    expect(await kimi.json(tool, { ...asked, wait: true })).toEqual({ ...denial, retry_after_s: 1 });
    clock.advance(1);
    const again = await kimi.json(tool, asked);
    expect(again).toMatchObject({ status: 'pending_human_approval' });
    expect(again['approval_id']).not.toBe(approval_id);
  });

  test('[APPR-4] a denial without words says who denied', async () => {
    const kimi = await house.agent();
    await house.deny(await kimi.ask('aws:deploy:staging', { ttl: '12m' }));
    expect(await kimi.json(tool, asked)).toMatchObject({ status: 'denied', reason: 'A human denied this request.' });
  });

  test('[APPR-7] [TOOL-7] the sixth open question is a rate_limited envelope', async () => {
    const kimi = await house.agent();
    for (const target of ['a', 'b', 'c', 'd', 'e']) await kimi.call(tool, request(`aws:deploy:${target}`));
    const { text, isError } = await kimi.reads(tool, request('aws:deploy:f'));
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ error: true, kind: 'rate_limited', retry_after_s: 600, next_action: 'wait' });
    expect(await house.open(kimi)).toHaveLength(5);
  });
});

describe('misuse', () => {
  const why = 'Why you need it; the human reads it and it lands on the record.';
  const what =
    '<upstream>:<action>:<resource>, e.g. github:call:create_issue. Ask for the minimum; `*` only as a whole segment or at the end.';

  test.each<[string, JsonObject, string]>([
    ['no arguments', {}, `ERROR: Missing required argument 'capability'. ${what}`],
    ['an empty capability', request(''), `ERROR: Missing required argument 'capability'. ${what}`],
    ['no reason', { capability: 'a:b:c' }, `ERROR: Missing required argument 'reason'. ${why}`],
    ['a reason of blanks', request('a:b:c', { reason: ' \n ' }), `ERROR: Missing required argument 'reason'. ${why}`],
    ['a number', request('a:b:c', { reason: 7 }), `ERROR: Invalid argument 'reason': expected string, received number. ${why}`],
    [
      'a typo',
      request('a:b:c', { tll: '5m' }),
      `ERROR: Unknown argument 'tll' for ${tool}. Did you mean 'ttl'? It takes: capability, reason, ttl, wait, timeout_s.`,
    ],
    [
      'no capability at all',
      request('deploy'),
      "ERROR: The capability 'deploy' has fewer than three parts. Write <upstream>:<action>:<resource>, e.g. github:call:get_issue.",
    ],
  ])('[TOOL-1] [TOOL-7] %s is an ERROR that says what to send, and leaves no trace', async (_, args, text) => {
    const kimi = await house.agent();
    const before = [house.rows(), await house.records()];
    expect(await kimi.reads(tool, args)).toEqual({ text, isError: true });
    expect([house.rows(), await house.records()]).toEqual(before);
  });
});
