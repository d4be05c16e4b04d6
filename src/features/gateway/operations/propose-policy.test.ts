// scopegate_propose_policy through the whole gateway, and agents that try to get more out of it.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../../test/support/house-agent.ts';
import type { JsonObject } from '../../../kernel/json.ts';

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
const note = 'A human must review and merge this into policies.yaml. It has NO effect until then.';

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

describe('an agent proposes', () => {
  test('[PROP-1] a denied capability is answered with the way to propose, and the proposal in the shape of the page', async () => {
    const kimi = await house.agent();
    const denied = await kimi.json('scopegate_request_capability', { capability: 'stripe:read:*', reason: 'r' });
    expect(denied['next_step']).toBe('Call scopegate_propose_policy with a justification; a human will review it.');
    const { text, isError } = await kimi.reads(tool, wish('stripe:read:*', { ttl: '600s' }));
    const [{ n }] = (await review()).filter(({ agent }) => agent === kimi.caller.agent) as [Row];
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual({
      queued: true,
      deduped: false,
      pending_file: pendingFile,
      proposal: n,
      remarks: ['Wide: it is about every resource of that kind.'],
      note,
      next_step: `Tell the human to run: scopegate policies review, then: scopegate policies accept ${n} (or: scopegate policies reject ${n} --reason TEXT).`,
    });
    expect(await kimi.json(tool, wish('stripe:read:*', { ttl: '10m', justification: 'in other words' }))).toMatchObject({
      queued: false,
      deduped: true,
      proposal: n,
      note,
    });
    expect(await kimi.json(tool, wish('stripe:read:*', { ttl: '5m' }))).toMatchObject({ queued: true });
    const other = await house.agent();
    expect(await other.json(tool, wish('stripe:read:*', { ttl: '10m' }))).toMatchObject({ queued: true });
  });

  test('[PROP-2] nothing that is in force changes, and the record has it without the agent’s words', async () => {
    const kimi = await house.agent();
    const [before, records] = [house.rows()['policy_in_force'], (await house.records()).length];
    const n = await numberOf(kimi, 'bank:read:account-4711', { ttl: '5m', justification: 'for mister Haberdasher' });
    expect(house.rows()['policy_in_force']).toEqual(before);
    expect(readFileSync(policyFile, 'utf8')).toBe(policies);
    expect(await may(kimi, 'bank:read:account-4711')).toBe('deny');
    expect((await house.records()).slice(records)).toMatchObject([
      {
        event: 'proposal.queued',
        actor: `agent:${kimi.caller.agent}`,
        facts: { proposal: n, agent: kimi.caller.agent, ttl_ms: 300_000 },
        sealed: { match: expect.any(String) as string, justification: expect.any(String) as string },
      },
    ]);
    expect(house.recordText()).not.toMatch(/Haberdasher|account-4711/);
  });

  test.each<[string, JsonObject, string | RegExp]>([
    ['a deny of all of it', wish('aws:write:production'), "All of it is blocked by the hard limit 'aws:*:production'."],
    ['a deny of a part', wish('aws:deploy:{eu,production}'), "A part of it is blocked by the hard limit 'aws:*:production'."],
    ['too long a ttl', wish('aws:deploy:x', { ttl: '2h' }), 'Its ttl 2h is longer than max_ttl 30m and would be cut to that.'],
  ])('[PROP-3] what collides with %s is queued and marked', async (_, wanted, lint_note) => {
    const kimi = await house.agent();
    const answer = await kimi.json(tool, wanted);
    expect(answer).toMatchObject({ queued: true, lint: 'conflicts_with_limits', lint_note });
    expect(await rowOf(Number(answer['proposal']))).toMatchObject({ lint: 'conflicts_with_limits', lint_note });
    expect(readFileSync(pendingFile, 'utf8')).toContain(lint_note);
  });

  test.each([
    ['github:read:x', ["Nothing new: 'github:read:*' allows all of it already."]],
    ['github:write:x', ["A person is asked about some of it now ('github:write:*'); accepting ends that."]],
    ['vault:inject:x', ["It also allows 'vault:inject:*', about which a person is asked by default."]],
    ['stripe:read:x', undefined],
    ['stripe:*:x', ['Wide: it is about everything an upstream can do.']],
  ])('[PROP-3] of %s the agent and the person are told what there is to say', async (match, remarks) => {
    const kimi = await house.agent();
    const answer = await kimi.json(tool, wish(match));
    expect(answer['remarks']).toEqual(remarks);
    expect((await rowOf(Number(answer['proposal'])))?.['remarks']).toEqual(remarks);
  });

  test.each<[string, JsonObject, RegExp]>([
    ['no match', { justification: 'j' }, /^ERROR: Missing required argument 'match'\. /],
    ['an empty match', wish(''), /^ERROR: Missing required argument 'match'\. /],
    ['no justification', { match: 'a:b:c' }, /^ERROR: Missing required argument 'justification'\. Why you need it/],
    [
      'a justification of blanks',
      { match: 'a:b:c', justification: ' \n ' },
      /^ERROR: Missing required argument 'justification'\. /,
    ],
    ...['effect', 'auto_approve', 'agentId', 'redact', 'when', 'status', '__proto__x'].map(
      (field): [string, JsonObject, RegExp] => [
        `a field ${field}`,
        wish('a:b:c', { [field]: 'bob' }),
        new RegExp(
          `^ERROR: Proposal rejected: field '${field}' is not agent-settable\\. Give match, ttl and justification; a human decides the rest\\.$`,
        ),
      ],
    ),
    ['a glob of another kind', wish('a:b:[x]'), /^ERROR: Proposal rejected: match: invalid glob 'a:b:\[x\]' — .* holds '\['/],
    [
      'two parts',
      wish('a:b'),
      /^ERROR: Proposal rejected: match: invalid glob 'a:b' — The pattern 'a:b' has fewer than three parts\./,
    ],
    [
      'several lines',
      wish('a:b:c\nagents: {}'),
      /^ERROR: Proposal rejected: match: invalid glob 'a:b:c\\nagents: \{\}' — .*U\+000A/,
    ],
    ['a hidden character', wish('a:b:c\u202e'), /^ERROR: Proposal rejected: match: invalid glob 'a:b:c\\u\{202e\}' — .*U\+202E/],
    ['a long match', wish(`a:b:${'c'.repeat(2_044)}`), /^ERROR: Proposal rejected: match: invalid glob/],
    [
      'days',
      wish('a:b:c', { ttl: '1d' }),
      /^ERROR: Proposal rejected: Invalid ttl '1d' — expected '<n>s', '<n>m' or '<n>h'\. Write for example 90s, 15m or 2h\.$/,
    ],
    ['no time at all', wish('a:b:c', { ttl: '0s' }), /^ERROR: Proposal rejected: Invalid ttl '0s' — it must be more than zero/],
    ['a novel', wish('a:b:c', { justification: 'x'.repeat(2_001) }), /^ERROR: Invalid argument 'justification': /],
  ])('[PROP-1] %s is an ERROR that says what is wrong, and leaves no trace', async (_, args, words) => {
    const kimi = await house.agent();
    const before = [house.rows(), await house.records()];
    const { text, isError } = await kimi.reads(tool, args);
    expect(isError).toBe(true);
    expect(text).toMatch(words);
    expect([house.rows(), await house.records()]).toEqual(before);
  });

  test('[PROP-3] proposals count against the rate', async () => {
    const slow = await house.agent('slow');
    await slow.json(tool, wish('a:b:1'));
    await slow.json(tool, wish('a:b:1'));
    const { text, isError } = await slow.reads(tool, wish('a:b:2'));
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ kind: 'rate_limited', retry_after_s: 60 });
  });

  test('[PROP-3] of ten thousand proposals fifty wait, and another agent still has its own', async () => {
    const kimi = await house.agent();
    for (let at = 0; at < 60; at += 1) await kimi.reads(tool, wish(`flood:read:${at}`));
    const mine = async (): Promise<number> => (await review()).filter(({ agent }) => agent === kimi.caller.agent).length;
    expect(await mine()).toBe(50);
    const refused = await kimi.reads(tool, wish('flood:read:more'));
    expect(JSON.parse(refused.text)).toMatchObject({ error: true, kind: 'rate_limited', next_action: 'wait' });
    await Promise.all(Array.from({ length: 9_940 }, (_, at) => kimi.reads(tool, wish(`flood:call:${at}`))));
    expect(await mine()).toBe(50);
    expect(await kimi.json(tool, wish('flood:read:7'))).toMatchObject({ deduped: true });
    const other = await house.agent();
    expect(await other.json(tool, wish('flood:read:7'))).toMatchObject({ queued: true });
    await house.decide('agents.remove', { name: kimi.caller.agent });
    await expect.poll(mine).toBe(0);
  }, 60_000);
});

describe('what an agent writes stays data', () => {
  const hostile = [
    'x"\n---\nagentId: bob\nstatus: accepted',
    "'; rm -rf ~ #\n...\n",
    '!!js/function "function(){}" &a *a <<: *b',
    '\u001b[2J\u001b[1;1H1  accepted  root \u0007\u009b31m',
    '\u202egnihton spots\u2066 \u200b\u{e0041}',
    'a\u0000b \ud800 c\r\nd\u2028e\u0085f',
  ];

  test.each(hostile)(
    '[PROP-2] %j is one escaped line in the file, on the screen and under the signature',
    async (justification) => {
      const kimi = await house.agent();
      const n = await numberOf(kimi, 'stripe:read:x', { justification });
      const text = readFileSync(pendingFile, 'utf8');
      const documents = parseAllDocuments(text).map((document) => {
        expect([...(document as unknown as { errors: unknown[] }).errors]).toEqual([]);
        return (document as unknown as { toJS(): JsonObject }).toJS();
      });
      expect(documents).toHaveLength((await review()).length);
      expect(documents.find((document) => document['n'] === n)).toMatchObject({
        agentId: kimi.caller.agent,
        status: 'pending_human_review',
      });
      const disturbing = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;
      expect(text).not.toMatch(disturbing);
      const { shown } = await house.prepare('policy.accept', { n });
      const said = shown['agent_says'] as string;
      expect(said).toMatch(/^“.*”$/);
      expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(JSON.stringify(shown['policies_yaml'])).not.toContain('rm -rf');
      expect(String((await rowOf(n))?.['justification']).toWellFormed()).toBe(justification.trim().toWellFormed());
    },
  );

  test('[PROP-4] whatever somebody makes of the file, people are shown the queue, and the next change mends the copy', async () => {
    const kimi = await house.agent();
    const n = await numberOf(kimi, 'stripe:read:forged');
    const before = await review();
    const forged = readFileSync(pendingFile, 'utf8')
      .replaceAll(kimi.caller.agent, 'mallory')
      .replaceAll('stripe:read:forged', '*:*:*');
    writeFileSync(pendingFile, `${forged}---\nn: 999\nagentId: mallory\nrule: { match: '*:*:*' }\n`);
    expect(await review()).toEqual(before);
    expect((await house.prepare('policy.accept', { n })).shown).toMatchObject({
      agent: kimi.caller.agent,
      match: 'stripe:read:forged',
    });
    await expect(house.prepare('policy.accept', { n: 999 })).rejects.toMatchObject({ code: 'policy.no_proposal' });
    const next = await numberOf(kimi, 'stripe:read:next');
    expect(readFileSync(pendingFile, 'utf8')).not.toMatch(/999|mallory/);
    rmSync(pendingFile);
    expect(await review()).toMatchObject([...before.map((row) => ({ n: row.n })), { n: next }]);
    await numberOf(kimi, 'stripe:read:last');
    expect(existsSync(pendingFile)).toBe(true);
  });

  test('[PROP-4] comments that people write into the file stay', async () => {
    const kimi = await house.agent();
    const n = await numberOf(kimi, 'stripe:read:commented');
    const text = readFileSync(pendingFile, 'utf8').replace(`n: ${n}\n`, `n: ${n} # ask Eve first\n`);
    writeFileSync(pendingFile, text.replace('---', '# Eve looks at these on Mondays\n---'));
    await numberOf(kimi, 'stripe:read:other');
    expect(readFileSync(pendingFile, 'utf8')).toMatch(/Eve looks at these[\s\S]*# ask Eve first/);
    await house.decide('policy.reject', { n, reason: 'no' });
    expect(readFileSync(pendingFile, 'utf8')).not.toContain('ask Eve first');
  });
});

// The log rests after a failure, so this comes last.
test('[PROP-2] without a record nothing is proposed', async () => {
  const kimi = await house.agent();
  house.files.full = true;
  try {
    // The first one finds the disk full: its record waits with its row. From then on nothing is taken.
    await kimi.call(tool, wish('a:b:first'));
    const before = house.rows()['policy_proposal'];
    expect((await kimi.refusal(tool, wish('a:b:second'))).code).toBe('audit.unavailable');
    expect(house.rows()['policy_proposal']).toEqual(before);
  } finally {
    house.files.full = false;
  }
});
