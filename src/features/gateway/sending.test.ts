// Between the decision and the sending a call may wait long for its upstream; what changes meanwhile counts.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';

const policies = `
version: 1
limits: { approval_ttl: 10m }
agents:
  '*':
    capabilities:
      - { match: 'slow:call:*', effect: allow, ttl: 24h }
`;

let clock: FakeClock;
let house: GatewayHouse;
beforeAll(async () => {
  clock = createFakeClock();
  house = await openGatewayHouse({ policies, clock, upstreams: { slow: ['slow-start', '300'] } });
});
afterAll(() => house.close());

const outcomes = async ({ caller }: HouseAgent): Promise<unknown[]> =>
  (await house.records('call.outcome'))
    .filter(({ actor }) => actor === `agent:${caller.agent}`)
    .map(({ facts }) => facts?.['outcome']);

/** Ends the slow upstream, so that the next call has to wait for its start. */
async function cool(): Promise<void> {
  const listed = async () =>
    ((await house.local('fleet.list')) as { name: string; pid?: number; state: string }[]).find(({ name }) => name === 'slow');
  const pid = (await listed())?.pid;
  if (pid === undefined) throw new Error('the slow upstream does not run');
  // Up for long enough that its end counts as the first.
  clock.advance(60_000);
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(async () => expect((await listed())?.state).toBe('backoff'));
  clock.advance(600);
}

test('[GRANT-3] a deny that comes into force while a call waits for its upstream stops it, and nothing was sent', async () => {
  const kimi = await house.agent();
  await kimi.text('slow__echo', { message: 'warm' });
  await cool();
  const call = kimi.refusal('slow__echo', { message: 'cold' });
  await house.adopt(policies.replace('limits: {', "limits: { deny: ['slow:*:*'],"));
  try {
    expect(await call).toMatchObject({ code: 'policy.denied', data: { deny: 'ceiling_blocked' } });
    expect(await outcomes(kimi)).toEqual(['ok', 'refused']);
  } finally {
    await house.adopt(policies);
  }
  expect(await kimi.text('slow__echo', { message: 'again' })).toBe('again');
});

test('[GRANT-3] so does a question that a rule came to ask, while another edit lets it through under the policy that decided', async () => {
  const kimi = await house.agent();
  await kimi.text('slow__echo', { message: 'warm' });
  await cool();
  const call = kimi.refusal('slow__echo', { message: 'cold' });
  await house.adopt(policies.replace('effect: allow', 'effect: ask'));
  expect(await call).toMatchObject({
    code: 'policy.denied',
    message: expect.stringContaining('requires human approval') as string,
  });
  await house.adopt(policies);
  const decidedUnder = (await house.records('policy.adopted')).at(-1)?.facts?.['to'];
  await cool();
  const passing = kimi.text('slow__echo', { message: 'through' });
  await house.adopt(`${policies}# a remark\n`);
  expect(await passing).toBe('through');
  expect((await house.records('call.intent')).at(-1)?.facts?.['policy']).toBe(decidedUnder);
  await house.adopt(policies);
});

test('[DOOR-12] so does the suspension of its agent', async () => {
  const kimi = await house.agent();
  await kimi.text('slow__echo', { message: 'warm' });
  await cool();
  const call = kimi.refusal('slow__echo', { message: 'cold' });
  await house.local('agents.suspend', { name: kimi.caller.agent });
  expect((await call).code).toBe('agents.suspended');
  expect(await outcomes(kimi)).toEqual(['ok', 'refused']);
});
