// wait: true, on a clock that moves when told to: who is woken when, what is said meanwhile, and what stays behind.
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { fakeHost } from '../../../test/support/fake-host.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = `
version: 1
limits: { approval_ttl: 5m, rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: 'aws:deploy:*', effect: ask, ttl: 15m }
`;
const asked: JsonObject = { capability: 'aws:deploy:prod', reason: 'ship the fix' };

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, clock });
});
afterAll(() => house.close());

interface Wait {
  readonly kimi: HouseAgent;
  readonly id: string;
  readonly notes: JsonObject[];
  readonly answer: Promise<JsonObject>;
  /** Whether the answer is there, once everything that is ready has run. */
  done(): Promise<boolean>;
}

/** The question is open already, so that the wait begins in the tick of its call. */
async function startWait(more: JsonObject = {}, { progress = false, signal = new AbortController().signal } = {}): Promise<Wait> {
  const kimi = await house.agent();
  const id = await kimi.ask('aws:deploy:prod');
  const notes: JsonObject[] = [];
  const onProgress = progress ? (note: JsonObject) => void notes.push(note) : undefined;
  const answers: JsonObject[] = [];
  const answer = kimi.json('scopegate_request_capability', { ...asked, wait: true, ...more }, { onProgress, signal });
  void answer.then((given) => answers.push(given));
  await setImmediate();
  return {
    kimi,
    id,
    notes,
    answer,
    async done() {
      // An answer may have to read its row once more, in another thread.
      for (let turn = 0; turn < 50 && answers.length === 0; turn += 1) await setImmediate();
      return answers.length > 0;
    },
  };
}

async function waited(id: string): Promise<unknown[]> {
  const records = await house.records('approval.waited');
  return records.filter(({ facts }) => facts?.['approval'] === id).map(({ facts }) => [facts?.['seconds'], facts?.['state']]);
}

test('[APPR-6] [TOOL-1] an approval wakes it in the same instant and answers with the grant', async () => {
  const wait = await startWait();
  clock.advance(7_000);
  await house.approve(wait.id);
  expect(await wait.answer).toEqual({
    granted: true,
    capability: 'aws:deploy:prod',
    expires_in_seconds: 900,
    matched_rule: 'human_approval',
    via: 'human_approval',
    approval_id: wait.id,
  });
  expect(await waited(wait.id)).toEqual([[7, 'approved']]);
});

test('[APPR-6] [TOOL-1] [APPR-4] a denial wakes it with the words of the person', async () => {
  const wait = await startWait();
  await house.deny(wait.id, 'wrong branch');
  expect(await wait.answer).toEqual({
    granted: false,
    status: 'denied',
    approval_id: wait.id,
    reason: 'wrong branch',
    retry_after_s: 600,
    next_step: 'Do not ask again for the same thing; choose another way or talk to the human.',
  });
  expect(await waited(wait.id)).toEqual([[0, 'denied']]);
});

test('[APPR-6] [TOOL-1] without a progress token it answers approval_timeout at 55 s, and the question stays open', async () => {
  const wait = await startWait({ timeout_s: 120 });
  clock.advance(54_999);
  expect(await wait.done()).toBe(false);
  clock.advance(1);
  const answer = await wait.answer;
  expect(answer).toMatchObject({
    granted: false,
    status: 'approval_timeout',
    approval_id: wait.id,
    next_step: 'The approval is still pending: call again with the SAME capability to keep waiting.',
  });
  expect(answer['instructions']).toContain(`scopegate approve ${wait.id}`);
  expect(await house.open(wait.kimi)).toMatchObject([{ approval_id: wait.id }]);
  expect(await waited(wait.id)).toEqual([[55, 'pending']]);
});

test('[APPR-6] with a progress token it says each 10 s that it waits, and for whom, up to the 60 s of the default', async () => {
  const wait = await startWait({}, { progress: true });
  clock.advance(9_999);
  expect(wait.notes).toEqual([]);
  clock.advance(1);
  const message = `Waiting for a human: scopegate approve ${wait.id}`;
  expect(wait.notes).toEqual([{ progress: 10, total: 60, message }]);
  clock.advance(49_999);
  expect(wait.notes.map(({ progress }) => progress)).toEqual([10, 20, 30, 40, 50]);
  expect(await wait.done()).toBe(false);
  clock.advance(1);
  expect(await wait.answer).toMatchObject({ status: 'approval_timeout' });
  clock.advance(60_000);
  expect(wait.notes.length).toBeLessThanOrEqual(6);
});

test.each([
  [121, 120],
  [1e9, 120],
  [61.9, 61],
  [0, 1],
  [-5, 1],
])('[APPR-6] timeout_s %d waits %i s', async (timeout_s, seconds) => {
  const wait = await startWait({ timeout_s }, { progress: true });
  clock.advance(seconds * 1_000 - 1);
  expect(await wait.done()).toBe(false);
  clock.advance(1);
  expect(await wait.answer).toMatchObject({ status: 'approval_timeout' });
  expect(await waited(wait.id)).toEqual([[seconds, 'pending']]);
});

test('[APPR-6] [TOOL-1] the end of the approval itself ends the wait as expired', async () => {
  const wait = await startWait({ timeout_s: 1 });
  clock.advance(5 * 60_000 - 30_000);
  await wait.answer;
  const second = wait.kimi.json('scopegate_request_capability', { ...asked, wait: true });
  await setImmediate();
  clock.advance(30_000);
  expect(await second).toEqual({
    granted: false,
    status: 'expired',
    approval_id: wait.id,
    reason: 'Nobody decided in time.',
    next_step: 'Ask again.',
  });
});

test('[APPR-6] a caller that gives up is let go at once, leaves no timer behind and its question open', async () => {
  const abort = new AbortController();
  const before = clock.pending();
  const wait = await startWait({}, { progress: true, signal: abort.signal });
  const during = clock.pending();
  abort.abort();
  await wait.answer;
  expect(clock.pending()).toBe(during - 2);
  expect(during).toBeGreaterThan(before + 2);
  clock.advance(20_000);
  expect(wait.notes).toEqual([]);
  expect(await house.open(wait.kimi)).toHaveLength(1);
  expect(await waited(wait.id)).toEqual([[0, 'pending']]);
});

describe('a client that can show it', () => {
  async function shownWait(answer: JsonObject | undefined) {
    const kimi = await house.agent();
    const host = fakeHost({ elicitation: {} }, () => answer);
    const wait = kimi.json('scopegate_request_capability', { ...asked, wait: true }, { host });
    await expect.poll(() => host.asked.length).toBe(1);
    const [open] = await house.open(kimi);
    return { kimi, host, wait, id: open?.approval_id ?? '' };
  }

  test('[ELICIT-1] [ELICIT-2] is shown that a person is needed, accepts to no effect, and has the answer of the person', async () => {
    const { kimi, host, wait, id } = await shownWait({ action: 'accept', content: { wait: true, approve: true } });
    const { message } = host.asked[0]?.params ?? {};
    for (const part of [`Agent: ${kimi.caller.agent}`, 'For: 15m, with any arguments', '“ship the fix”', `scopegate approve ${id}`])
      expect(message).toContain(part);
    expect(await house.open(kimi)).toHaveLength(1);
    await house.approve(id);
    expect(await wait).toMatchObject({ granted: true, approval_id: id });
    expect(host.asked[0]?.signal.aborted).toBe(true);
  });

  test('[ELICIT-3] ends the wait when it does not want to wait', async () => {
    const { kimi, wait, id } = await shownWait({ action: 'decline' });
    expect(await wait).toMatchObject({ granted: false, status: 'approval_timeout', approval_id: id });
    expect(await house.open(kimi)).toHaveLength(1);
  });

  test('[ELICIT-4] waits no longer than without being shown anything, and has the question taken back', async () => {
    const { host, wait } = await shownWait(undefined);
    clock.advance(55_000);
    expect(await wait).toMatchObject({ status: 'approval_timeout' });
    expect(host.asked[0]?.signal.aborted).toBe(true);
  });
});

test('[APPR-6] all who wait for one question are woken by one decision', async () => {
  const wait = await startWait();
  const others = [1, 2, 3].map(() => wait.kimi.json('scopegate_request_capability', { ...asked, wait: true }));
  await setImmediate();
  await house.approve(wait.id);
  for (const answer of await Promise.all([wait.answer, ...others]))
    expect(answer).toMatchObject({ granted: true, approval_id: wait.id });
  expect(await waited(wait.id)).toHaveLength(4);
});

test('[APPR-6] what is decided already is answered without waiting', async () => {
  const wait = await startWait({ timeout_s: 1 });
  clock.advance(1_000);
  await wait.answer;
  await house.approve(wait.id);
  expect(await wait.kimi.json('scopegate_request_capability', { ...asked, wait: true })).toMatchObject({
    matched_rule: 'existing_grant',
  });
});
