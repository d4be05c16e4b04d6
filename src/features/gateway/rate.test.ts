// The rate limit, alone on a clock and through the whole gateway: what is new is counted, what is held or asked already is free.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import { createRate } from './rate.ts';

const limit = { count: 2, perMs: 60_000, text: '2/m' };
const refused = (retryAfterMs: number): unknown =>
  expect.objectContaining({ kind: 'limited', code: 'gateway.rate_limited', retryAfterMs });

describe('the sliding window', () => {
  test('[GRANT-4] a request is free again when the one that filled its place leaves the window', () => {
    const clock = createFakeClock();
    const rate = createRate(clock);
    rate.take('kimi', limit);
    clock.advance(20_000);
    rate.take('kimi', limit);
    clock.advance(39_999);
    expect(() => rate.take('kimi', limit)).toThrow(refused(1));
    clock.advance(1);
    rate.take('kimi', limit);
    expect(() => rate.take('kimi', limit)).toThrow(refused(20_000));
    clock.advance(19_999);
    expect(() => rate.take('kimi', limit)).toThrow(refused(1));
  });

  test('[GRANT-4] a refused request is not counted, and each agent has a window of its own', () => {
    const clock = createFakeClock();
    const rate = createRate(clock);
    for (let time = 0; time < 2; time += 1) rate.take('kimi', limit);
    for (let time = 0; time < 50; time += 1) expect(() => rate.take('kimi', limit)).toThrow(refused(60_000));
    rate.take('rosa', limit);
    clock.advance(60_000);
    rate.take('kimi', limit);
  });

  test('[GRANT-4] a limit that became tighter counts what was taken before', () => {
    const clock = createFakeClock();
    const rate = createRate(clock);
    for (let time = 0; time < 5; time += 1) {
      rate.take('kimi', { ...limit, count: 5 });
      clock.advance(1_000);
    }
    expect(() => rate.take('kimi', { ...limit, count: 1 })).toThrow(refused(59_000));
  });
});

describe('through the gateway', () => {
  const policies = `
version: 1
agents:
  '*':
    limits: { rate_limit: 2/m }
    capabilities:
      - { match: 'up:call:{write_note,env}', effect: ask }
      - { match: 'up:call:*', effect: allow, ttl: 1h }
`;
  let clock: FakeClock;
  let house: GatewayHouse;
  beforeAll(async () => {
    clock = createFakeClock();
    house = await openGatewayHouse({ policies, upstreams: { up: ['echo'] }, clock });
  });
  afterAll(() => house.close());

  test('[GRANT-4] [TOOL-7] the third new capability is a rate_limited envelope with retry_after_s; calls under grants go on', async () => {
    const kimi = await house.agent();
    await kimi.call('up__echo');
    clock.advance(15_000);
    await kimi.call('up__params');
    const { text, isError } = await kimi.reads('up__pid');
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toEqual({
      error: true,
      kind: 'rate_limited',
      message: `Rate limit 2/m reached for agent '${kimi.caller.agent}'.`,
      retry_after_s: 45,
      next_action: 'wait',
      next_step: 'Wait, then ask again; capabilities already granted are not limited.',
    });
    for (let call = 0; call < 20; call += 1) await kimi.text('up__echo', { message: String(call) });
    clock.advance(45_000);
    await kimi.call('up__pid');
  });

  test('[GRANT-4] calls that join a grant being issued are free: five at once cost one', async () => {
    const kimi = await house.agent();
    await Promise.all([1, 2, 3, 4, 5].map(() => kimi.call('up__echo')));
    await kimi.call('up__params');
    expect((await kimi.refusal('up__pid')).code).toBe('gateway.rate_limited');
  });

  test('[GRANT-4] asking an open question again is free, also when all ask at once; a new question is not', async () => {
    const kimi = await house.agent();
    const note = { note: 'a' };
    await Promise.all([1, 2, 3, 4, 5].map(() => kimi.refusal('up__write_note', note)));
    for (let time = 0; time < 5; time += 1) expect((await kimi.refusal('up__write_note', note)).code).toBe('approvals.pending');
    expect(await house.open(kimi)).toHaveLength(1);
    expect((await kimi.refusal('up__write_note', { note: 'b' })).code).toBe('approvals.pending');
    expect((await kimi.refusal('up__write_note', { note: 'c' })).code).toBe('gateway.rate_limited');
    expect(await house.open(kimi)).toHaveLength(2);
  });

  test('[GRANT-4] an approved call and a remembered denial are free', async () => {
    const kimi = await house.agent();
    for (const note of ['yes', 'no']) await kimi.refusal('up__write_note', { note });
    for (const { approval_id, args } of await house.open(kimi)) {
      await ((args as { note: string }).note === 'yes' ? house.approve(approval_id) : house.deny(approval_id));
    }
    expect(await kimi.text('up__write_note', { note: 'yes' })).toBe('noted yes');
    for (let time = 0; time < 5; time += 1)
      expect((await kimi.refusal('up__write_note', { note: 'no' })).code).toBe('approvals.denied');
  });

  test('[GRANT-4] explicit requests count, granted, held or denied alike', async () => {
    const kimi = await house.agent();
    const ask = (capability: string) => kimi.reads('scopegate_request_capability', { capability, reason: 'r' });
    await ask('up:call:echo');
    await ask('stripe:read:x');
    expect(JSON.parse((await ask('up:call:echo')).text)).toMatchObject({ kind: 'rate_limited', retry_after_s: 60 });
    await kimi.call('up__echo');
  });
});
