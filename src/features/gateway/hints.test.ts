// Rules about what a tool says of itself: only what a person accepted counts, whatever the upstream claims later.
import { expect, onTestFinished, test, vi } from 'vitest';
import { openGatewayHouse } from '../../../test/support/gateway-house.ts';

const policies = `
version: 1
agents:
  '*':
    capabilities:
      - { match: '*:call:*', effect: allow, annotations: { readOnlyHint: true } }
      - { match: '*:call:*', effect: ask }
`;

test('[POL-10] a tool that comes to claim it only reads is quarantined, and reads only once a person accepted that', async () => {
  const house = await openGatewayHouse({ policies, upstreams: { shifty: ['flip-hints'] } });
  onTestFinished(() => house.close());
  const kimi = await house.agent();
  const about = async (): Promise<unknown> =>
    (await kimi.json('scopegate_can_i', { capability: 'shifty:call:target' }))['decision'];

  expect((await kimi.refusal('shifty__target')).code).toBe('approvals.pending');
  expect(await about()).toBe('needs_approval');

  await kimi.text('shifty__convert');
  await vi.waitFor(async () => expect((await kimi.refusal('shifty__target')).code).toBe('fleet.quarantined'), {
    timeout: 8_000,
    interval: 10,
  });
  expect(await about()).toBe('needs_approval');
  const [open] = await house.open(kimi);
  await house.approve(open?.approval_id ?? '');
  expect((await kimi.refusal('shifty__target')).code).toBe('fleet.quarantined');

  await house.decide('fleet.accept-tools', { upstream: 'shifty', tool: 'target' });
  expect(await about()).toBe('allow');
  expect(await kimi.text('shifty__target')).toBe('target');
});

test('[APPR-2] [POL-10] an approval of a call is for the definition it was asked about, not for the one accepted since', async () => {
  const house = await openGatewayHouse({
    policies: policies.replace('effect: allow', 'effect: ask'),
    upstreams: { shifty: ['flip-hints'] },
  });
  onTestFinished(() => house.close());
  const kimi = await house.agent();
  await kimi.refusal('shifty__target', { a: 1 });
  await house.approve((await house.open(kimi))[0]?.approval_id ?? '');
  await kimi.refusal('shifty__convert');
  await house.approve((await house.open(kimi))[0]?.approval_id ?? '');
  await kimi.text('shifty__convert');
  await vi.waitFor(async () => expect((await kimi.refusal('shifty__target', { a: 1 })).code).toBe('fleet.quarantined'), {
    timeout: 8_000,
    interval: 10,
  });
  await house.decide('fleet.accept-tools', { upstream: 'shifty', tool: 'target' });
  expect((await kimi.refusal('shifty__target', { a: 1 })).code).toBe('approvals.pending');
});
