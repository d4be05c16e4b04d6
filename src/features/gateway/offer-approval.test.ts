// A call that waits for a person, offered to its client: who decides, when it goes on, and what nobody gets by accepting. On a clock that
// moves when told to.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { fakeHost, refuses, type FakeHost } from '../../../test/support/fake-host.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { ToolAnswer } from '../../kernel/dispatch.ts';
import { asAppError, type AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = (denied = 'none:call:*'): string => `
version: 1
limits: { approval_ttl: 20m, rate_limit: 1000/s, deny: ['${denied}'] }
agents:
  '*':
    capabilities:
      - { match: 'tally:call:*', effect: ask, redact: [email] }
`;

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({
    policies: policies(),
    clock,
    upstreams: { tally: ['counting', 'tally.txt'] },
    humanUrl: () => 'http://door.localhost:7078',
  });
});
afterAll(() => house.close());

const hits = (): string[] =>
  readFileSync(join(house.home, 'tally.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('hit'));

interface Waiting {
  readonly kimi: HouseAgent;
  readonly host: FakeHost;
  readonly id: string;
  readonly tag: string;
  readonly notes: JsonObject[];
  /** The answer of the call, or its refusal. */
  readonly end: Promise<ToolAnswer | AppError>;
  readonly done: () => Promise<boolean>;
}

let tags = 0;
/** A call that waits; its client never answers unless told to. */
async function waits(
  host: FakeHost = fakeHost({ elicitation: {} }, () => undefined),
  { progress = false, signal = new AbortController().signal, args = {} } = {},
): Promise<Waiting> {
  const kimi = await house.agent();
  const tag = `t${(tags += 1)}`;
  const notes: JsonObject[] = [];
  const onProgress = progress ? (note: JsonObject) => void notes.push(note) : undefined;
  const over: boolean[] = [];
  const end = kimi
    .call('tally__hit', { tag, ...args }, { host, signal, onProgress })
    .catch((thrown: unknown) => asAppError(thrown))
    .finally(() => void over.push(true));
  await expect.poll(async () => (await house.open(kimi)).length + host.asked.length).toBe(2);
  const [open] = await house.open(kimi);
  return {
    kimi,
    host,
    id: open?.approval_id ?? '',
    tag,
    notes,
    end,
    async done() {
      for (let turn = 0; turn < 50 && over.length === 0; turn += 1) await setImmediate();
      return over.length > 0;
    },
  };
}

const ran = (tag: string): number => hits().filter((line) => line === `hit ${tag}`).length;
const pending = { code: 'approvals.pending' };

describe('what the client is shown', () => {
  test('[ELICIT-1] a link to the page of the approval, where it takes links', async () => {
    const { host, id, kimi, end } = await waits(fakeHost({ elicitation: { form: {}, url: {} } }, () => undefined));
    const [asked] = host.asked;
    expect(asked).toMatchObject({
      method: 'elicitation/create',
      params: {
        mode: 'url',
        url: `http://door.localhost:7078/approvals/${id}`,
        elicitationId: expect.stringContaining(id) as string,
      },
    });
    expect(JSON.stringify(asked?.params)).toContain(`scopegate approve ${id}`);
    await house.approve(id);
    await end;
    expect(host.told).toEqual([
      { method: 'notifications/elicitation/complete', params: { elicitationId: asked?.params['elicitationId'] } },
    ]);
    expect(await recordOf(kimi, 'approval.offered')).toMatchObject([{ facts: { approval: id, mode: 'url' } }]);
  });

  test('[ELICIT-1] else a form with what waits, its arguments masked and shortened, and the command', async () => {
    const long = 'x'.repeat(2_000);
    const waiting = await waits(undefined, { args: { mail: 'ann@example.org', bidi: '\u202eevil', long } });
    const { message, requestedSchema, mode } = (waiting.host.asked[0]?.params ?? {}) as {
      message: string;
      requestedSchema: JsonObject;
      mode?: string;
    };
    expect(mode).toBeUndefined();
    expect(message).toContain(`Agent: ${waiting.kimi.caller.agent}`);
    expect(message).toContain('Capability: tally:call:hit');
    expect(message).toContain('"mail":"[REDACTED:email]"');
    expect(message).toContain('\\u{202e}evil');
    expect(message).toContain('… (shortened');
    expect(message).toContain(`scopegate approve ${waiting.id}`);
    expect(message).toMatch(/Waits until: 2026-01-01T00:\d\d/);
    expect(message.length).toBeLessThan(1_200);
    expect(requestedSchema).toMatchObject({ type: 'object', properties: { wait: { type: 'boolean' } } });
    expect(requestedSchema).not.toHaveProperty('required');
    await house.deny(waiting.id);
    await waiting.end;
  });

  test.each<[string, JsonObject | undefined]>([
    ['has no client to ask', undefined],
    ['declared no elicitation', { sampling: {} }],
    ['declared something else by that name', { elicitation: true }],
  ])('[ELICIT-3] nothing, where a call %s: the answer is pending, as ever', async (_, capabilities) => {
    const kimi = await house.agent();
    const host = capabilities && fakeHost(capabilities);
    expect(await kimi.refusal('tally__hit', { tag: 'none' }, host === undefined ? {} : { host })).toMatchObject(pending);
    expect(host?.asked ?? []).toEqual([]);
  });
});

describe('a decision', () => {
  test('[ELICIT-1] [ELICIT-4] lets the call go on at once, with its exact arguments, and takes the question back', async () => {
    const timers = clock.pending();
    const { host, id, tag, end } = await waits();
    clock.advance(8 * 60_000);
    expect(ran(tag)).toBe(0);
    await house.approve(id);
    expect(await end).toMatchObject({ kind: 'upstream' });
    expect(ran(tag)).toBe(1);
    expect(host.asked[0]?.signal.aborted).toBe(true);
    expect(clock.pending()).toBeLessThanOrEqual(timers + 2);
  });

  test('[ELICIT-1] against it ends the call with the words of the person, and takes the question back', async () => {
    const { host, id, tag, end, kimi } = await waits();
    await house.deny(id, 'wrong branch');
    expect(await end).toMatchObject({ code: 'approvals.denied', message: expect.stringContaining('wrong branch') as string });
    expect([ran(tag), host.asked[0]?.signal.aborted]).toEqual([0, true]);
    // Asked again within ten minutes the denial is repeated, and nobody is shown anything.
    expect(await kimi.refusal('tally__hit', { tag }, { host })).toMatchObject({ code: 'approvals.denied' });
    expect(host.asked).toHaveLength(1);
  });

  test('[ELICIT-5] buys one execution: of two equal calls that wait one runs, and the other asks anew', async () => {
    const first = await waits();
    const second = first.kimi.refusal('tally__hit', { tag: first.tag }, { host: first.host });
    // The same client is not asked twice about the same thing at once.
    expect(await second).toMatchObject(pending);
    expect(first.host.asked).toHaveLength(1);
    const third = first.kimi.call('tally__hit', { tag: first.tag }, { host: fakeHost({ elicitation: {} }, () => undefined) });
    const settled = Promise.allSettled([first.end, third]);
    await setImmediate();
    await house.approve(first.id);
    const outcomes = (await settled).map((one) => (one.status === 'fulfilled' ? one.value : asAppError(one.reason)));
    expect(outcomes.filter((one) => one instanceof Error)).toMatchObject([pending]);
    expect(ran(first.tag)).toBe(1);
  });

  test('[ELICIT-5] about other arguments lets nothing run', async () => {
    const waiting = await waits();
    const other = await waits(undefined, { args: { more: 1 } });
    await house.approve(other.id);
    await other.end;
    expect(await waiting.done()).toBe(false);
    expect(ran(waiting.tag)).toBe(0);
    await house.deny(waiting.id);
    await waiting.end;
  });

  test('[ELICIT-5] is nothing to an agent that was suspended meanwhile', async () => {
    const { kimi, id, tag, end } = await waits();
    const statement = await house.prepare('approvals.approve', { id });
    await house.local('agents.suspend', { name: kimi.caller.agent, reason: 'odd' });
    await house.decide('approvals.approve', { id }, statement).catch(() => undefined);
    clock.advance(10 * 60_000);
    expect(asAppError(await end).code).toMatch(/^agents\.suspended$/);
    expect(ran(tag)).toBe(0);
  });

  test('[ELICIT-5] is weighed anew: a deny that came meanwhile beats it', async () => {
    const { id, tag, end } = await waits();
    await house.adopt(policies('tally:call:*'));
    expect(asAppError(await house.approve(id).catch((thrown: unknown) => thrown)).code).toBe('policy.denied');
    clock.advance(10 * 60_000);
    expect(asAppError(await end).kind).toBe('denied');
    await house.adopt(policies());
    expect(ran(tag)).toBe(0);
  });
});

describe('an answer of the client', () => {
  test.each<[string, JsonObject]>([
    ['accept', { action: 'accept' }],
    [
      'accept with everything ticked',
      { action: 'accept', content: { wait: true, approve: true, approved: true, decision: 'approve' } },
    ],
  ])('[ELICIT-2] %s: nothing runs, now or ever, without the signature of a person', async (_, answer) => {
    const { kimi, id, tag, host, end, done } = await waits(fakeHost({ elicitation: {} }, () => answer));
    expect(await done()).toBe(false);
    expect(ran(tag)).toBe(0);
    clock.advance(54_999);
    expect(await done()).toBe(false);
    clock.advance(1);
    expect(await end).toMatchObject({ ...pending, data: { approval_id: id } });
    expect(await house.open(kimi)).toMatchObject([{ approval_id: id, state: 'pending' }]);
    expect(
      await kimi.refusal('tally__hit', { tag }, { host: fakeHost({ elicitation: {} }, () => ({ action: 'decline' })) }),
    ).toMatchObject(pending);
    expect([ran(tag), host.asked.length]).toEqual([0, 1]);
  });

  test.each<[string, ReturnType<FakeHost['answers']>]>([
    ['decline', { action: 'decline' }],
    ['cancel', { action: 'cancel' }],
    ['accept, but do not wait', { action: 'accept', content: { wait: false } }],
    ['an error', refuses(-32602, 'no such thing')],
    ['no answer of the protocol', { yes: true }],
  ])('[ELICIT-3] %s: the pending answer at once, and the question to the person stays open', async (_, answer) => {
    const { kimi, id, tag, end } = await waits(fakeHost({ elicitation: {} }, () => answer));
    expect(await end).toMatchObject({ ...pending, data: { approval_id: id } });
    expect(await house.open(kimi)).toHaveLength(1);
    await house.approve(id);
    expect(await kimi.text('tally__hit', { tag })).toBe('hit');
    expect(ran(tag)).toBe(1);
  });

  test('[ELICIT-3] none, because the client is gone: the pending answer at once', async () => {
    const kimi = await house.agent();
    const host = fakeHost({ elicitation: {} });
    host.gone = true;
    expect(await kimi.refusal('tally__hit', { tag: 'gone' }, { host })).toMatchObject(pending);
  });

  test('[ELICIT-4] with a progress token the wait goes on after it, for ten minutes, and is told each 10 s', async () => {
    const { id, notes, end, done } = await waits(
      fakeHost({ elicitation: {} }, () => ({ action: 'accept' })),
      { progress: true },
    );
    clock.advance(10_000);
    expect(notes).toEqual([{ progress: 0.00001, message: `Waiting for a human: scopegate approve ${id}` }]);
    clock.advance(9 * 60_000 + 49_999);
    expect(await done()).toBe(false);
    const steps = notes.map(({ progress }) => Number(progress));
    expect(steps).toHaveLength(59);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    // Less than anything an upstream counts under the same token.
    expect(Math.max(...steps)).toBeLessThan(0.001);
    clock.advance(1);
    expect(await end).toMatchObject(pending);
  });
});

describe('the wait', () => {
  test('[ELICIT-4] ends after ten minutes with the pending answer, and the question is taken back', async () => {
    const { host, end, done } = await waits();
    clock.advance(10 * 60_000 - 1);
    expect(await done()).toBe(false);
    clock.advance(1);
    expect(await end).toMatchObject(pending);
    expect(host.asked[0]?.signal.aborted).toBe(true);
  });

  test('[ELICIT-4] ends when the approval expires', async () => {
    const { kimi, tag, id, end } = await waits();
    clock.advance(10 * 60_000);
    await end;
    clock.advance(9 * 60_000);
    const host = fakeHost({ elicitation: {} }, () => undefined);
    const again = kimi.refusal('tally__hit', { tag }, { host });
    await expect.poll(() => host.asked.length).toBe(1);
    clock.advance(60_000);
    expect(await again).toMatchObject({ code: 'approvals.expired' });
    expect((await house.local('approvals.list', { all: true })) as object[]).toContainEqual(
      expect.objectContaining({ approval_id: id, state: 'expired' }),
    );
  });

  test('[ELICIT-4] ends with the call, leaving the question to the person open', async () => {
    const abort = new AbortController();
    const { kimi, host, end } = await waits(undefined, { signal: abort.signal });
    abort.abort();
    await end;
    expect(host.asked[0]?.signal.aborted).toBe(true);
    expect(await house.open(kimi)).toHaveLength(1);
  });
});

async function recordOf({ caller }: HouseAgent, event: 'approval.offered') {
  return (await house.records(event)).filter(({ actor }) => actor === `agent:${caller.agent}`);
}
