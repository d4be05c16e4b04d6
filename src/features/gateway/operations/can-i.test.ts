// scopegate_can_i as an agent meets it: every shape of its page, and nothing at all left behind.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { JsonObject } from '../../../kernel/json.ts';

const policies = `
version: 1
limits:
  rate_limit: 6/h
  deny: ['aws:*:production']
agents:
  'kimi-*':
    capabilities:
      - { match: 'up:call:echo', effect: allow, ttl: 10m }
      - { match: 'up:call:*', effect: allow, annotations: { readOnlyHint: true } }
      - { match: 'up:call:write_note', effect: ask }
      - { match: 'up:call:add', effect: ask, when: { a: 1 } }
`;

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, upstreams: { up: ['echo'] }, clock });
});
afterAll(() => house.close());

const tool = 'scopegate_can_i';

describe('the shapes of the page', () => {
  test('[TOOL-2] allow', async () => {
    const kimi = await house.agent();
    expect(await kimi.reads(tool, { capability: 'up:call:echo' })).toEqual({
      isError: false,
      text: JSON.stringify(
        {
          capability: 'up:call:echo',
          decision: 'allow',
          ttl_ms: 600_000,
          rule: 'up:call:echo',
          reason: "Auto-approved by rule 'up:call:echo'.",
          recommended_next: 'Proceed — call scopegate_request_capability (or the tool directly).',
        },
        null,
        2,
      ),
    });
    expect(await kimi.json(tool, { capability: 'up:call:echo', ttl: '2m' })).toMatchObject({ ttl_ms: 120_000 });
  });

  test('[TOOL-2] allow under a grant that is held already', async () => {
    const kimi = await house.agent();
    await kimi.call('up__echo', { message: 'hi' });
    expect(await kimi.json(tool, { capability: 'up:call:echo' })).toMatchObject({
      decision: 'allow',
      covered_by_existing_grant: true,
      recommended_next: 'Proceed — you hold it already: call the tool directly.',
    });
    clock.advance(10 * 60_000);
    expect(await kimi.json(tool, { capability: 'up:call:echo' })).not.toHaveProperty('covered_by_existing_grant');
  });

  test('[TOOL-2] needs_approval, and allow once a person gave it', async () => {
    const kimi = await house.agent();
    const capability = 'up:call:write_note';
    expect(await kimi.json(tool, { capability })).toEqual({
      capability,
      decision: 'needs_approval',
      via: 'local_policy',
      rule: capability,
      ttl_ms: 900_000,
      reason: `Capability '${capability}' matches '${capability}' which requires human approval.`,
      recommended_next: 'Plan for a human approval — request it before you need it, with wait: true where you can block.',
    });
    const id = await kimi.ask(capability);
    expect(await kimi.json(tool, { capability })).toMatchObject({ decision: 'needs_approval' });
    await house.approve(id);
    expect(await kimi.json(tool, { capability })).toMatchObject({ decision: 'allow', covered_by_existing_grant: true });
  });

  test.each<[string, JsonObject, string, boolean, RegExp]>([
    [
      'a hard limit',
      { capability: 'aws:write:production' },
      'ceiling_blocked',
      true,
      /^Hard limit — do NOT attempt this in any form; only/,
    ],
    ['no rule', { capability: 'stripe:read:x' }, 'no_rule', false, /scopegate_propose_policy/],
    ['a ttl that is none', { capability: 'up:call:echo', ttl: '1d' }, 'invalid_ttl', false, /'<n>s', '<n>m' or '<n>h'/],
  ])('[TOOL-2] deny for %s', async (_, args, code, hard, next) => {
    const kimi = await house.agent();
    const { capability } = args;
    expect(await kimi.json(tool, args)).toMatchObject({ capability, decision: 'deny', code, hard });
    expect((await kimi.json(tool, args))['recommended_next']).toMatch(next);
  });

  test('[TOOL-2] deny for an agent no section speaks of', async () => {
    const stranger = await house.agent('stranger');
    expect(await stranger.json(tool, { capability: 'up:call:echo' })).toEqual({
      capability: 'up:call:echo',
      decision: 'deny',
      code: 'no_policy',
      hard: false,
      reason: "No policy section matches agent 'stranger'.",
      recommended_next: 'Tell the human what the reason says; only they can change it.',
    });
  });

  test('[TOOL-2] [TOOL-7] what is no capability is an ERROR', async () => {
    const kimi = await house.agent();
    expect(await kimi.reads(tool, { capability: 'up:call:e?ho' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^ERROR: /) as string,
    });
    expect((await kimi.reads(tool, {})).text).toMatch(
      /^ERROR: Missing required argument 'capability'\. The capability you may want later/,
    );
  });

  test('[TOOL-2] [POL-10] conditions on hints are answered from the accepted definition of the tool', async () => {
    const kimi = await house.agent();
    expect(await kimi.json(tool, { capability: 'up:call:pid' })).toMatchObject({ decision: 'allow' });
    expect(await kimi.json(tool, { capability: 'up:call:no_such_tool' })).toMatchObject({ decision: 'deny', code: 'no_rule' });
  });

  test('[TOOL-2] [POL-10] a grant with guards covers what those guards would be asked for', async () => {
    const kimi = await house.agent();
    const capability = 'up:call:add';
    const id = await kimi.ask(capability);
    await house.approve(id);
    expect(await kimi.json(tool, { capability })).toMatchObject({ covered_by_existing_grant: true });
  });
});

describe('nothing else', () => {
  const questions = ['up:call:echo', 'up:call:write_note', 'up:call:*', 'aws:write:production', 'stripe:read:x', 'none'];

  test('[TOOL-2] no row, no record, no open approval and no part of the rate limit, however often it is asked', async () => {
    const kimi = await house.agent();
    const before = [house.rows(), await house.records(), await house.open(kimi)];
    for (let round = 0; round < 20; round += 1) for (const capability of questions) await kimi.reads(tool, { capability });
    expect([house.rows(), await house.records(), await house.open(kimi)]).toEqual(before);
    for (let request = 0; request < 6; request += 1) {
      await kimi.call('scopegate_request_capability', { capability: 'up:call:echo', reason: 'six an hour' });
    }
    expect((await kimi.refusal('scopegate_request_capability', { capability: 'up:call:echo', reason: 'seven' })).code).toBe(
      'gateway.rate_limited',
    );
    expect(await kimi.json(tool, { capability: 'up:call:echo' })).toMatchObject({ decision: 'allow' });
  });

  test('[TOOL-2] [AUD-12] it answers the same while nothing can be recorded, and so do the other look-ups', async () => {
    const kimi = await house.agent();
    const answers = () => Promise.all(questions.map((capability) => kimi.reads(tool, { capability })));
    const before = await answers();
    house.files.full = true;
    try {
      expect((await kimi.refusal('scopegate_request_capability', { capability: 'up:call:echo', reason: 'r' })).code).toBe(
        'audit.unavailable',
      );
      expect(await answers()).toEqual(before);
      for (const look of [
        'scopegate_policy_summary',
        'scopegate_list_capabilities',
        'scopegate_diagnose',
        'scopegate_upstream_health',
      ]) {
        expect(await kimi.reads(look)).toMatchObject({ isError: false });
      }
    } finally {
      house.files.full = false;
    }
  });
});
