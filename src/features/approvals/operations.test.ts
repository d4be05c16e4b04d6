// What a person sees and does: lists, the whole of one request, the facts under the signature, and the two decisions.
import { beforeEach, expect, test } from 'vitest';
import { drawStatement } from '../../faces/cli/draw-statement.ts';
import { draw } from '../../faces/cli/operation-commands.ts';
import { callQuestion, createDesk, minute, proof, requestQuestion, type Desk } from '../../../test/support/approval-desk.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import { approvalOperations } from './operations.ts';

const instant = (ms: number): string => new Date(ms).toISOString();

describeDatabases('what a person sees of approvals', (open) => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await createDesk(open);
  });

  test('approvals list is an array in snake case, newest first, open ones only unless all are asked for', async () => {
    const first = await desk.approvals.ask(callQuestion);
    desk.clock.advance(1_000);
    const second = await desk.approvals.ask({ ...requestQuestion, ttlMs: 90_000 });
    const list = await desk.operate('approvals.list', {});
    expect(list).toEqual([
      {
        approval_id: second.id,
        agent: 'kimi',
        capability: 'aws:deploy:prod',
        origin: 'request',
        reason: 'ship the fix',
        ttl: '90s',
        requested_at: instant(second.requestedAt),
        expires_at: instant(second.expiresAt),
        state: 'pending',
        rule: 'aws:deploy:*',
      },
      expect.objectContaining({ approval_id: first.id, origin: 'call', args: { to: 'prod', count: 2 }, ttl: '15m' }),
    ]);
    await desk.operate('approvals.deny', { id: first.id }, { proofFacts: proof });
    expect(await desk.operate('approvals.list', {})).toHaveLength(1);
    desk.clock.advance(10 * minute);
    expect(await desk.operate('approvals.list', {})).toEqual([]);
    expect(await desk.operate('approvals.list', { all: true })).toMatchObject([{ state: 'expired' }, { state: 'denied' }]);
  });

  test('[APPR-1] approvals show says who asks for what with which arguments, until when, and what a yes buys', async () => {
    const { id, expiresAt } = await desk.approvals.ask(callQuestion);
    expect(await desk.operate('approvals.show', { id })).toMatchObject({
      approval_id: id,
      agent: 'kimi',
      capability: 'aws:call:deploy',
      args: { to: 'prod', count: 2 },
      tool_hash: 'h1',
      policy_version: 'v1',
      expires_at: instant(expiresAt),
      buys: 'one execution of aws:call:deploy by kimi with exactly these arguments, started within 10m of the approval',
    });
    const request = await desk.approvals.ask({ ...requestQuestion, guards: [{ region: 'eu-*' }] });
    expect(await desk.operate('approvals.show', { id: request.id })).toMatchObject({
      buys: 'a grant for aws:deploy:prod to kimi for 15m with any arguments that satisfy its guards',
      guards: [{ region: 'eu-*' }],
    });
    await expect(desk.operate('approvals.show', { id: 'nothing' })).rejects.toMatchObject({ code: 'approvals.not_found' });
  });

  test('[APPR-1] drawn for a terminal, arguments keep their kinds and no text of the agent can touch the screen', async () => {
    const trick = 'fine\u001b[2K\u202e\napproved by the boss';
    const question = { ...callQuestion, args: { n: '1', m: 1, note: trick }, reason: trick };
    const { id } = await desk.approvals.ask(question);
    const show = approvalOperations(desk).find(({ name }) => name === 'approvals.show');
    const text = show && draw(show, await desk.operate('approvals.show', { id }));
    expect(text).toContain('"n": "1"');
    expect(text).toContain('"m": 1');
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text?.split('\n').filter((line) => line.startsWith('approved by'))).toEqual([]);
  });

  test('[APPR-1] what is signed for a call is every fact it stands on, with the agent’s words marked and harmless', async () => {
    const question = { ...callQuestion, reason: 'do it\u202e\nORIGIN: safe' };
    const { id, requestedAt, expiresAt } = await desk.approvals.ask(question);
    const shown = await desk.shown('approvals.approve', { id });
    expect(shown).toEqual({
      decision: 'approve',
      buys: 'one execution of aws:call:deploy by kimi with exactly these arguments, started within 10m of the approval',
      approval: id,
      agent: 'kimi',
      capability: 'aws:call:deploy',
      origin: 'call',
      arguments: { to: 'prod', count: 2 },
      tool_definition: 'h1',
      rule: 'aws:call:*',
      agent_says: '“do it\\u{202e}\\nORIGIN: safe”',
      requested_at: instant(requestedAt),
      expires_at: instant(expiresAt),
      policy_version: 'v1',
    });
    const statement = { v: 1, purpose: 'sallyport/operator-statement', installation: 'i', operation: 'approvals.approve' } as const;
    const drawn = drawStatement({ ...statement, input: { id }, shown, challenge: 'c', issuedAt: '', expiresAt: '' }, 'Approve');
    expect(drawn).toContain('"count": 2');
    desk.policy.version = 'v2';
    expect(await desk.shown('approvals.approve', { id })).toEqual({ ...shown, policy_version: 'v2' });
  });

  test('[APPR-3] what is signed for a request names the grant, its ttl and its guards', async () => {
    const { id } = await desk.approvals.ask({ ...requestQuestion, guards: [{ region: 'eu-*' }] });
    expect(await desk.shown('approvals.approve', { id, ttl: '5m' })).toMatchObject({
      buys: 'a grant for aws:deploy:prod to kimi for 5m with any arguments that satisfy its guards',
      ttl: '5m',
      guards: [{ region: 'eu-*' }],
      agent_says: '“ship the fix”',
    });
    expect(await desk.shown('approvals.approve', { id })).toMatchObject({ ttl: '15m' });
  });

  test('[APPR-3] a ttl that lengthens, is none, or belongs to a call is refused before anything is signed', async () => {
    const { id } = await desk.approvals.ask(requestQuestion);
    const call = await desk.approvals.ask(callQuestion);
    await expect(desk.shown('approvals.approve', { id, ttl: '16m' })).rejects.toMatchObject({
      code: 'approvals.bad_ttl',
      message: '--ttl only shortens: 15m was asked for.',
    });
    await expect(desk.shown('approvals.approve', { id, ttl: '1d' })).rejects.toMatchObject({ kind: 'invalid' });
    await expect(desk.shown('approvals.approve', { id: call.id, ttl: '1m' })).rejects.toMatchObject({ code: 'approvals.bad_ttl' });
  });

  test('[APPR-5] nothing is prepared for what cannot be decided: unknown, decided, expired, or denied by policy now', async () => {
    const { id } = await desk.approvals.ask(requestQuestion);
    desk.policy.stillAsks = () => {
      throw new Error('denied now');
    };
    await expect(desk.shown('approvals.approve', { id })).rejects.toThrow('denied now');
    await expect(desk.shown('approvals.approve', { id: 'nothing' })).rejects.toMatchObject({ code: 'approvals.not_found' });
    await desk.operate('approvals.deny', { id }, { proofFacts: proof });
    await expect(desk.shown('approvals.approve', { id })).rejects.toMatchObject({ code: 'approvals.not_pending' });
    const late = await desk.approvals.ask({ ...requestQuestion, agent: 'other' });
    desk.clock.advance(10 * minute);
    for (const name of ['approvals.approve', 'approvals.deny']) {
      await expect(desk.shown(name, { id: late.id })).rejects.toMatchObject({ code: 'approvals.expired' });
    }
  });

  test('[APPR-3] approve answers what was bought', async () => {
    const request = await desk.approvals.ask(requestQuestion);
    const answer = await desk.operate('approvals.approve', { id: request.id, ttl: '5m' }, { proofFacts: proof });
    const [grant] = desk.grants.active('kimi');
    expect(answer).toEqual({
      approval_id: request.id,
      state: 'approved',
      agent: 'kimi',
      capability: 'aws:deploy:prod',
      grant_id: grant?.id,
      expires_at: instant(desk.clock.now() + 5 * minute),
    });
    const call = await desk.approvals.ask(callQuestion);
    expect(await desk.operate('approvals.approve', { id: call.id }, { proofFacts: proof })).toEqual({
      approval_id: call.id,
      state: 'approved',
      agent: 'kimi',
      capability: 'aws:call:deploy',
      usable_until: instant(desk.clock.now() + 10 * minute),
    });
  });

  test('[APPR-4] deny shows what it means, and takes a reason', async () => {
    const { id } = await desk.approvals.ask(callQuestion);
    expect(await desk.shown('approvals.deny', { id })).toMatchObject({
      decision: 'deny',
      means: 'the agent is told your reason; the same question gets this answer for 10m',
      arguments: { to: 'prod', count: 2 },
    });
    const answer = await desk.operate('approvals.deny', { id, reason: ' not today ' }, { proofFacts: proof });
    expect(answer).toMatchObject({ approval_id: id, state: 'denied', reason: 'not today' });
    expect(await desk.operate('approvals.show', { id })).toMatchObject({ state: 'denied', decision_reason: 'not today' });
  });

  test('a decision without the facts of a verified signature does nothing', async () => {
    const { id } = await desk.approvals.ask(requestQuestion);
    for (const name of ['approvals.approve', 'approvals.deny']) {
      await expect(desk.operate(name, { id })).rejects.toMatchObject({ kind: 'internal', code: 'approvals.unproved' });
    }
    expect((await desk.approvals.get(id))?.state).toBe('pending');
  });

  test('both decisions need the operator; looking does not', () => {
    const access = approvalOperations(desk).map(({ command, access, effect }) => [command?.words, access, effect]);
    expect(access).toEqual([
      ['approvals list', 'local', 'look'],
      ['approvals show', 'local', 'look'],
      ['approve', 'operator', 'change'],
      ['deny', 'operator', 'change'],
    ]);
  });
});
