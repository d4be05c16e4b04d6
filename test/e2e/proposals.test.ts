// The policy workflow with the real program: an agent at its door, a person at the command line, and a shell of the same user between.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectAgent } from '../support/agent-client.ts';
import { addAgent, openHouse } from '../support/running-daemon.ts';

const policies = `# kept
version: 1
agents:
  '*':
    capabilities:
      - { match: 'docs:read:*', effect: allow }
`;

test('[PROP-1] [PROP-5] a proposal goes from the agent to the person and into force, and survives kill -9 in between', async () => {
  const house = await openHouse({ policies });
  let daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  let agent = await connectAgent(daemon.agent_url, token);
  const said = async (name: string, args: object): Promise<Record<string, unknown>> =>
    JSON.parse((await agent.call(name, args)).text) as Record<string, unknown>;
  const wish = { match: 'stripe:read:*', ttl: '10m', justification: 'payout\u001b[31m report\n4821' };
  expect(await said('scopegate_propose_policy', wish)).toMatchObject({ queued: true, proposal: 1 });
  await agent.close();
  await daemon.kill();
  writeFileSync(house.path('policies.pending.yaml'), '---\nn: 1\nagentId: root\n');

  daemon = await house.up();
  expect(readFileSync(house.path('policies.pending.yaml'), 'utf8')).toContain('"payout\\u001b[31m report\\n4821"');
  const { stdout: reviewed } = await house.shell(['policies', 'review']);
  expect(reviewed).toContain('1  pending  coder');
  expect(reviewed).toContain("would change: + section 'coder': inherit '*'");
  expect(reviewed).not.toContain('\u001b');
  const refused = await house.shell(['policies', 'accept', '1']);
  expect(refused.code).not.toBe(0);
  const unsigned = daemon.line.operate('policy.accept', { n: 1 });
  await expect(unsigned).rejects.toMatchObject({ code: 'operator.proof_required' });
  expect(readFileSync(house.path('policies.yaml'), 'utf8')).toBe(policies);

  const statement = await daemon.line.prepare('policy.accept', { n: 1, ttl: '5m' });
  await daemon.line.operate('policy.accept', { n: 1, ttl: '5m' }, house.operator.prove(statement));
  await daemon.kill();
  daemon = await house.up();
  expect(readFileSync(house.path('policies.yaml'), 'utf8')).toBe(
    `${policies}  'coder':\n    inherit: '*'\n    capabilities:\n      - { match: 'stripe:read:*', ttl: 5m, effect: allow }\n`,
  );
  const { code } = await house.shell(['policies', 'check']);
  expect(code).toBe(0);
  agent = await connectAgent(daemon.agent_url, token);
  const wanted = { requests: [{ capability: 'stripe:read:invoices' }, { capability: 'docs:read:x' }] };
  expect(await said('scopegate_request_capabilities', wanted)).toMatchObject({ total: 2, granted: 2 });
  await agent.close();
  await daemon.stop();
});
