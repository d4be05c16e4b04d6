// What a rule redacts is redacted under every grant, whoever gave it and however it was asked for.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';

const policies = `
version: 1
agents:
  "*":
    capabilities:
      - { match: 'open:call:*', effect: allow, redact: [email, card] }
      - { match: 'asked:call:*', effect: ask, redact: [email] }
`;
const words = 'ada@example.org pays with 4111 1111 1111 1111';

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({ policies, upstreams: { open: ['repeats'], asked: ['repeats'] } });
});
afterAll(() => house.close());

type Agent = Awaited<ReturnType<GatewayHouse['agent']>>;

/** In text, in structured content, and in JSON that a text carries. */
async function said(agent: Agent, upstream: string): Promise<string> {
  const plain = await agent.call(`${upstream}__say`, { words });
  const carried = await agent.call(`${upstream}__say`, { words: JSON.stringify({ deep: words }) });
  return JSON.stringify([plain, carried]);
}

const ways: [string, string, (agent: Agent) => Promise<unknown>][] = [
  ['a call that brings its own', 'open', async () => undefined],
  [
    'a request that a rule allows',
    'open',
    (agent) => agent.json('scopegate_request_capability', { capability: 'open:call:say', reason: 'r' }),
  ],
  [
    'a request for everything of the upstream',
    'open',
    (agent) => agent.json('scopegate_request_capability', { capability: 'open:call:*', reason: 'r' }),
  ],
  [
    'a batch',
    'open',
    (agent) => agent.json('scopegate_request_capabilities', { requests: [{ capability: 'open:call:say', reason: 'r' }] }),
  ],
  ['a person, for a while', 'asked', async (agent) => house.approve(await agent.ask('asked:call:say'))],
  ['a person, for all of the upstream', 'asked', async (agent) => house.approve(await agent.ask('asked:call:*'))],
];

test.each(ways)('[REDACT-5] granted by %s', async (_, upstream, grant) => {
  const agent = await house.agent();
  await grant(agent);
  const text = await said(agent, upstream);
  expect(text).not.toContain('ada@example.org');
  expect(text.split('[REDACTED:email]').length).toBeGreaterThanOrEqual(5);
  expect(text.includes('4111')).toBe(upstream === 'asked');
});

test('[REDACT-5] bought for exactly these arguments by a person', async () => {
  const agent = await house.agent();
  await agent.refusal('asked__say', { words });
  const [open] = await house.open(agent);
  await house.approve(open?.approval_id ?? '');
  expect(JSON.stringify(await agent.call('asked__say', { words }))).not.toContain('ada@example.org');
});
