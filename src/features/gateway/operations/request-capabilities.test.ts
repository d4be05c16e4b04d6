// scopegate_request_capabilities as an agent meets it: real policy, grants, approvals and record behind it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { JsonObject } from '../../../kernel/json.ts';

const minute = 60_000;
const policies = `
version: 1
limits:
  deny: ['aws:*:production']
agents:
  'kimi-*':
    capabilities:
      - { match: 'github:call:list_*', effect: allow }
      - { match: 'aws:deploy:*', effect: ask, ttl: 15m }
  slow:
    limits: { rate_limit: 2/m }
    capabilities:
      - { match: 'github:call:*', effect: allow }
`;
const tool = 'scopegate_request_capabilities';

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, clock });
});
afterAll(() => house.close());

const batch = (...capabilities: string[]): JsonObject => ({ requests: capabilities.map((capability) => ({ capability })) });
const resultsOf = (answer: JsonObject): JsonObject[] => answer['results'] as JsonObject[];

describe('answers', () => {
  test('[BATCHCAP-1] each request is answered in its place, in the shapes of the page without instructions', async () => {
    const kimi = await house.agent();
    const wanted = ['github:call:list_issues', 'aws:deploy:prod', 'stripe:write:*', 'aws:write:production', '', 'deploy'];
    const answer = await kimi.reads(tool, batch(...wanted));
    const [{ approval_id }] = (await house.open(kimi)) as [{ approval_id: string }];
    expect(answer.isError).toBe(false);
    expect(JSON.parse(answer.text)).toEqual({
      total: 6,
      granted: 1,
      results: [
        { capability: wanted[0], granted: true, expires_in_seconds: 900, matched_rule: 'github:call:list_*' },
        {
          capability: wanted[1],
          granted: false,
          status: 'pending_human_approval',
          approval_id,
          approval_expires_at: new Date(clock.now() + 10 * minute).toISOString(),
          reason: "Capability 'aws:deploy:prod' matches 'aws:deploy:*' which requires human approval.",
        },
        {
          capability: wanted[2],
          granted: false,
          code: 'no_rule',
          reason: `No auto_approve rule matches 'stripe:write:*' for agent '${kimi.caller.agent}'.`,
        },
        {
          capability: wanted[3],
          granted: false,
          code: 'ceiling_blocked',
          reason: "Capability 'aws:write:production' is blocked by the hard limit 'aws:*:production'.",
        },
        { capability: '', granted: false, code: 'invalid', reason: 'The capability is empty.' },
        {
          capability: 'deploy',
          granted: false,
          code: 'invalid',
          reason: expect.stringContaining('fewer than three parts') as string,
        },
      ],
    });
    expect(resultsOf(JSON.parse(answer.text) as JsonObject).flatMap(Object.keys)).not.toContain('next_step');
  });

  test('[BATCHCAP-1] a bad ttl, a held grant and a human’s no are answers of their item too', async () => {
    const kimi = await house.agent();
    const held = await kimi.json('scopegate_request_capability', { capability: 'github:call:list_prs', reason: 'r', ttl: '2m' });
    expect(held).toMatchObject({ granted: true });
    await house.deny(await kimi.ask('aws:deploy:eu'), 'freeze');
    const requests = [
      { capability: 'github:call:list_prs' },
      { capability: 'aws:deploy:eu' },
      { capability: 'aws:deploy:us', ttl: '1d' },
    ];
    expect(await kimi.json(tool, { requests })).toMatchObject({
      granted: 1,
      results: [
        { granted: true, matched_rule: 'existing_grant', expires_in_seconds: 120 },
        { granted: false, status: 'denied', reason: 'freeze', retry_after_s: 600 },
        { granted: false, code: 'invalid_ttl' },
      ],
    });
  });

  test('[BATCHCAP-2] the same batch again, or twice the same item, grants and asks nothing new', async () => {
    const kimi = await house.agent();
    const wanted = batch('github:call:list_a', 'github:call:list_a', 'aws:deploy:x', 'aws:deploy:x');
    const first = resultsOf(await kimi.json(tool, wanted));
    expect(first[1]).toMatchObject({ granted: true, matched_rule: 'existing_grant' });
    expect(first[3]?.['approval_id']).toBe(first[2]?.['approval_id']);
    const grants = house.rows()['grants_grant'];
    const again = resultsOf(await kimi.json(tool, wanted));
    expect(again[0]).toMatchObject({ matched_rule: 'existing_grant' });
    expect(again[2]).toEqual(first[2]);
    expect(house.rows()['grants_grant']).toEqual(grants);
    expect(await house.open(kimi)).toHaveLength(1);
  });

  test('[BATCHCAP-1] a request without a reason, or with a blank one, says batch request to the person', async () => {
    const kimi = await house.agent();
    const requests = [
      { capability: 'aws:deploy:a' },
      { capability: 'aws:deploy:b', reason: '  ' },
      { capability: 'aws:deploy:c', reason: 'why' },
    ];
    await kimi.json(tool, { requests });
    const reasons = (await house.open(kimi)).map(({ capability, reason }) => [capability, reason]);
    expect(Object.fromEntries(reasons)).toEqual({
      'aws:deploy:a': 'batch request',
      'aws:deploy:b': 'batch request',
      'aws:deploy:c': 'why',
    });
  });

  test('[BATCHCAP-3] every item is on the record as one of a batch', async () => {
    const kimi = await house.agent();
    await kimi.json(tool, batch('github:call:list_x', 'stripe:read:x', 'aws:deploy:x'));
    const mine = (await house.records()).filter(({ actor }) => actor === `agent:${kimi.caller.agent}`);
    expect(mine.map(({ event, facts }) => [event, facts?.['via']])).toEqual([
      ['capability.requested', 'batch'],
      ['grant.issued', undefined],
      ['capability.denied', 'batch'],
      ['capability.requested', 'batch'],
      ['approval.requested', undefined],
    ]);
    await kimi.call('scopegate_request_capability', { capability: 'github:call:list_y', reason: 'r' });
    const alone = (await house.records('capability.requested')).at(-1);
    expect(alone?.facts).not.toHaveProperty('via');
  });
});

describe('bounds', () => {
  test('[BATCHCAP-2] a batch costs one unit of the rate, and one too many is refused as a whole', async () => {
    const slow = await house.agent('slow');
    const many = Array.from({ length: 20 }, (_, index) => `github:call:tool_${index}`);
    expect(await slow.json(tool, batch(...many))).toMatchObject({ total: 20, granted: 20 });
    expect(await slow.json(tool, batch('github:call:x'))).toMatchObject({ granted: 1 });
    const before = house.rows()['grants_grant'];
    const { text, isError } = await slow.reads(tool, batch('github:call:y', 'github:call:z'));
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual({
      granted: false,
      code: 'capability_rate_limited',
      reason: "Rate limit 2/m reached for agent 'slow'.",
      retry_after_s: 60,
    });
    expect(house.rows()['grants_grant']).toEqual(before);
  });

  test('[BATCHCAP-2] [APPR-7] the sixth open question of a batch is refused alone', async () => {
    const kimi = await house.agent();
    const wanted = ['a', 'b', 'c', 'd', 'e', 'f'].map((target) => `aws:deploy:${target}`);
    const results = resultsOf(await kimi.json(tool, batch(...wanted, 'github:call:list_z')));
    expect(results.slice(0, 5).every(({ status }) => status === 'pending_human_approval')).toBe(true);
    expect(results[5]).toMatchObject({ capability: 'aws:deploy:f', granted: false, code: 'rate_limited', retry_after_s: 600 });
    expect(results[6]).toMatchObject({ granted: true });
    expect(await house.open(kimi)).toHaveLength(5);
  });

  test('[BATCHCAP-2] a cancelled batch goes no further', async () => {
    const kimi = await house.agent();
    const stop = new AbortController();
    stop.abort();
    await kimi.refusal(tool, batch('github:call:list_q'), { signal: stop.signal });
    expect(await kimi.json('scopegate_list_capabilities')).toMatchObject({ active_grants: [] });
  });

  test.each<[string, JsonObject, RegExp]>([
    ['no list', {}, /^ERROR: Missing required argument 'requests'\. 1 to 20 requests/],
    ['an empty list', { requests: [] }, /^ERROR: Invalid argument 'requests': /],
    ['twenty-one', batch(...Array.from({ length: 21 }, () => 'a:b:c')), /^ERROR: Invalid argument 'requests': /],
    [
      'wait',
      { requests: [{ capability: 'a:b:c', wait: true }] },
      /^ERROR: Invalid argument 'requests\.0': 'wait' does not work in a batch; use scopegate_request_capability for that one\./,
    ],
    [
      'a continuation',
      { requests: [{ capability: 'a:b:c' }, { capability: 'a:b:c', execute_on_approval: { tool: 'a__b', args: {} } }] },
      /^ERROR: Invalid argument 'requests\.1': 'execute_on_approval' does not work in a batch/,
    ],
    ['a stray field', { requests: [{ capability: 'a:b:c', agent: 'bob' }] }, /'agent' is unknown here/],
    ['wait for all', { ...batch('a:b:c'), wait: true }, /^ERROR: Unknown argument 'wait' for scopegate_request_capabilities/],
    ['no capability', { requests: [{ reason: 'r' }] }, /^ERROR: Missing required argument 'requests\.0\.capability'\./],
  ])('[BATCHCAP-4] %s is misuse, and nothing is asked or granted', async (_, args, words) => {
    const kimi = await house.agent();
    const before = [house.rows(), await house.records()];
    const { text, isError } = await kimi.reads(tool, args);
    expect(isError).toBe(true);
    expect(text).toMatch(words);
    expect([house.rows(), await house.records()]).toEqual(before);
  });
});

// The log rests after a failure, so this comes last.
test('[BATCHCAP-2] without a record nothing of a batch is granted', async () => {
  const kimi = await house.agent();
  house.files.full = true;
  try {
    expect((await kimi.refusal(tool, batch('github:call:list_q'))).code).toBe('audit.unavailable');
  } finally {
    house.files.full = false;
  }
});
