// The record of calls, with real upstreams and a real log: intent before effect, outcome after, nothing in clear.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { AuditRecord } from '../audit/model.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = `
version: 1
limits: { rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: '{up,plain,tally,record,hangs,crashy}:call:*', effect: allow, ttl: 24h }
      - { match: 'asks:call:*', effect: ask }
`;

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({
    policies,
    clock,
    upstreams: {
      up: ['echo'],
      plain: ['repeats'],
      asks: ['repeats'],
      tally: ['counting', 'tally.txt'],
      record: ['witness', 'audit'],
      hangs: ['never-answers-call'],
      crashy: ['crash-on-call'],
    },
  });
});
afterAll(() => house.close());

const reached = (): string[] =>
  readFileSync(join(house.home, 'tally.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('hit'));

async function recordsOf({ caller }: HouseAgent, ...events: string[]): Promise<AuditRecord[]> {
  return (await house.records()).filter(({ actor, event }) => actor === `agent:${caller.agent}` && events.includes(event));
}

const outcomes = async (kimi: HouseAgent): Promise<unknown[]> =>
  (await recordsOf(kimi, 'call.outcome')).map(({ facts }) => facts?.['outcome']);

test('[AUD-10] the upstream finds the intent of the very call it is answering on the disk, of reads and writes alike', async () => {
  const kimi = await house.agent();
  const already = (await house.records('call.intent')).length;
  expect(await kimi.text('record__look')).toBe(String(already + 1));
  expect(await kimi.text('record__touch')).toBe(String(already + 2));
  expect(await kimi.text('record__look')).toBe(String(already + 3));
});

test('[AUD-10] intent and outcome name the call, what let it pass and how it ended', async () => {
  const kimi = await house.agent();
  await kimi.call('up__echo', { message: 'hi' });
  const [intent, outcome] = await recordsOf(kimi, 'call.intent', 'call.outcome');
  const [grant] = (await kimi.json('scopegate_list_capabilities'))['active_grants'] as JsonObject[];
  expect(intent).toMatchObject({
    event: 'call.intent',
    facts: {
      capability: 'up:call:echo',
      rule: '{up,plain,tally,record,hangs,crashy}:call:*',
      policy: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      tool_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      grant: grant?.['id'],
    },
    sealed: { args: expect.any(String) as string },
  });
  expect(outcome).toMatchObject({ event: 'call.outcome', intent: intent?.id, facts: { outcome: 'ok', ms: 0 } });
});

test('[AUD-10] [AUD-12] no intent, no call: with a full disk nothing reaches the upstream, grant or not; with room it goes on', async () => {
  const kimi = await house.agent();
  await kimi.call('tally__hit', { tag: 'held' });
  const before = reached();
  house.files.full = true;
  for (let time = 0; time < 3; time += 1)
    expect((await kimi.refusal('tally__hit', { tag: 'held' })).code).toBe('audit.unavailable');
  const fresh = await house.agent('quick').catch((thrown: { code: string }) => thrown.code);
  expect(fresh).toBe('audit.unavailable');
  expect(JSON.parse((await kimi.reads('tally__hit')).text)).toMatchObject({ kind: 'policy_denied', next_action: 'human' });
  expect(reached()).toEqual(before);
  house.files.full = false;
  await vi.waitFor(async () => {
    clock.advance(1_000);
    expect(await kimi.text('tally__hit', { tag: 'held' })).toBe('hit');
  });
  expect(reached()).toHaveLength(before.length + 1);
});

test('[AUD-13] arguments, results, reasons and made-up names stand nowhere in the record, raw, escaped or encoded', async () => {
  const kimi = await house.agent();
  const secrets = ['hunter2-argument', 'hunter2-whisper', 'hunter2-reason', 'hunter2-refusal', 'hunter2-deny', 'hunter2_tool'];
  await kimi.call('plain__say', { words: secrets[0] ?? '' });
  await kimi.call('plain__whisper', { words: secrets[1] ?? '' }, { onProgress: () => undefined });
  await kimi.call('plain__refuse', { words: secrets[3] ?? '' });
  await kimi.json('scopegate_request_capability', { capability: 'asks:call:say', reason: secrets[2] ?? '' });
  await kimi.refusal('asks__say', { words: secrets[0] ?? '' });
  for (const { approval_id } of await house.open(kimi)) await house.deny(approval_id, secrets[4]);
  await kimi.refusal(`plain__${secrets[5]}`);
  const written = house.recordText();
  for (const secret of secrets) {
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(2, -4), Buffer.from(secret).toString('hex')]) {
      expect(written).not.toContain(form);
    }
  }
  const sealed = (await recordsOf(kimi, 'call.intent', 'call.outcome')).map((record) => Object.keys(record.sealed ?? {}));
  expect(sealed).toEqual([['args'], ['answer'], ['args'], ['answer'], ['args'], ['answer']]);
});

test.each<[string, string, JsonObject, string]>([
  ['an answer', 'up__echo', { message: 'x' }, 'ok'],
  ['a tool that failed', 'up__fails', {}, 'error'],
  ['an error of the protocol', 'plain__refuse', { words: 'x' }, 'error'],
])('[AUD-10] %s closes the intent as it ended', async (_, name, args, outcome) => {
  const kimi = await house.agent();
  await kimi.call(name, args);
  expect(await outcomes(kimi)).toEqual([outcome]);
});

test('[AUD-10] [DOOR-6] a caller that takes it back closes it as cancelled, one that is too slow as timeout', async () => {
  const kimi = await house.agent();
  const abort = new AbortController();
  const call = kimi.refusal('hangs__hang', {}, { signal: abort.signal });
  await vi.waitFor(async () => expect(await recordsOf(kimi, 'call.intent')).toHaveLength(1));
  abort.abort();
  expect((await call).code).toBe('fleet.cancelled');
  const second = kimi.refusal('hangs__hang');
  await vi.waitFor(async () => expect(await recordsOf(kimi, 'call.intent')).toHaveLength(2));
  // The synced record is followed by the sending in the next ticks.
  await kimi.text('hangs__sleep', { ms: 1 });
  clock.advance(120_000);
  expect((await second).code).toBe('fleet.timeout');
  expect(await outcomes(kimi)).toEqual(['cancelled', 'ok', 'timeout']);
});

test('[AUD-10] an upstream that dies on a call leaves it unknown; one that is down was sent nothing', async () => {
  const kimi = await house.agent();
  expect((await kimi.refusal('crashy__crash')).code).toBe('fleet.exited');
  expect((await kimi.refusal('crashy__crash')).code).toBe('fleet.down');
  expect(await outcomes(kimi)).toEqual(['unknown', 'refused']);
});

test('a refused call is on the record with its code, the name it used only as a digest', async () => {
  const kimi = await house.agent();
  await kimi.refusal('plain__no_such_tool');
  await kimi.refusal('asks__say', {});
  const refused = await recordsOf(kimi, 'call.refused');
  expect(refused.map(({ facts }) => facts?.['code'])).toEqual(['gateway.unknown_tool', 'approvals.pending']);
  expect(refused[1]?.facts?.['approval']).toBe((await house.open(kimi))[0]?.approval_id);
  expect(Object.keys(refused[0]?.sealed ?? {})).toEqual(['tool']);
});

test('an agent that was suspended is refused whatever it calls, and it is on the record', async () => {
  const kimi = await house.agent();
  await kimi.call('up__echo');
  await house.local('agents.suspend', { name: kimi.caller.agent });
  for (const name of ['up__echo', 'scopegate_can_i', 'nothing']) expect((await kimi.refusal(name)).code).toBe('agents.suspended');
  expect((await recordsOf(kimi, 'call.refused')).map(({ facts }) => facts?.['code'])).toEqual(Array(3).fill('agents.suspended'));
  await house.decide('agents.unsuspend', { name: kimi.caller.agent });
  await kimi.call('up__echo');
});
