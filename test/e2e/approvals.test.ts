// What an approval buys, end to end: this call with these arguments, once, in time. Everything near it asks anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectAgent, type AgentClient } from '../support/agent-client.ts';
import {
  addAgent,
  addUpstream,
  decide,
  openHouse,
  recorded,
  until,
  type House,
  type RunningDaemon,
} from '../support/running-daemon.ts';

const policies = (limits = ''): string => `version: 1
limits:
  max_ttl: 1h
${limits}agents:
  coder:
    capabilities:
      - match: "fix:call:hit"
        effect: ask
`;

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly agent: AgentClient;
  /** What the upstream did. */
  readonly hits: () => string[];
}

async function scene(limits?: string): Promise<Scene> {
  const house = await openHouse({ policies: policies(limits) });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  const counter = house.path('hits');
  await addUpstream(house, daemon, 'fix', 'counting', counter);
  const agent = await connectAgent(daemon.agent_url, token, 8);
  return { house, daemon, agent, hits: () => readFileSync(counter, 'utf8').split('\n').slice(1, -1) };
}

const idOf = (text: string): string => /approve ([0-9a-f-]{36})/.exec(text)?.[1] ?? '';

test('[APPR-2] another argument, one more, one less, another order of keys: only the very same call runs, and once', async () => {
  const { house, daemon, agent, hits } = await scene();
  const id = idOf((await agent.call('fix__hit', { tag: 'a', deep: { x: 1, y: [1, 2] } })).text);
  await decide(house, daemon, 'approvals.approve', { id });
  for (const args of [
    { tag: 'b', deep: { x: 1, y: [1, 2] } },
    { tag: 'a' },
    { tag: 'a', deep: { x: 1, y: [2, 1] } },
    { tag: 'a', deep: { x: 1, y: [1, 2] }, more: null },
  ]) {
    expect(idOf((await agent.call('fix__hit', args)).text)).not.toBe(id);
  }
  expect(hits()).toEqual([]);
  const same = { deep: { y: [1, 2], x: 1 }, tag: 'a' };
  const answers = await Promise.all([1, 2, 3].map(() => agent.call('fix__hit', same)));
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
  expect(hits()).toEqual(['hit a']);
  expect(await recorded(daemon, 'approval.used')).toHaveLength(1);
  await agent.close();
});

test('[APPR-5] what expired cannot be approved, and what was approved in time cannot be spent late', async () => {
  const { house, daemon, agent, hits } = await scene('  approval_ttl: 2s\n');
  const id = idOf((await agent.call('fix__hit', { tag: 'late' })).text);
  const prepared = await daemon.line.prepare('approvals.approve', { id });
  await delay(2_100);
  await expect(daemon.line.operate('approvals.approve', { id }, house.operator.prove(prepared))).rejects.toMatchObject({
    code: 'approvals.expired',
  });
  await until(async () => (await recorded(daemon, 'approval.expired')).length === 1, 'its end is on the record');
  const second = idOf((await agent.call('fix__hit', { tag: 'late' })).text);
  expect(second).not.toBe(id);
  await decide(house, daemon, 'approvals.approve', { id: second });
  await delay(2_100);
  expect((await agent.call('fix__hit', { tag: 'late' })).isError).toBe(true);
  expect(hits()).toEqual([]);
  await agent.close();
});

test('[APPR-2] a decision made under one policy is not spent under another, nor by another agent', async () => {
  const { house, daemon, agent, hits } = await scene();
  const id = idOf((await agent.call('fix__hit', { tag: 'a' })).text);
  await decide(house, daemon, 'approvals.approve', { id });
  const rival = await connectAgent(daemon.agent_url, await addAgent(house, daemon, 'rival'));
  expect((await rival.call('fix__hit', { tag: 'a' })).isError).toBe(true);
  writeFileSync(house.path('policies.yaml'), policies().replace('max_ttl: 1h', 'max_ttl: 30m'));
  await until(async () => (await recorded(daemon, 'policy.narrowed')).length === 1, 'the narrower text is on the record');
  // Its record comes before its force, by the time of a sync.
  await delay(200);
  expect((await agent.call('fix__hit', { tag: 'a' })).isError).toBe(true);
  expect(hits()).toEqual([]);
  await Promise.all([agent.close(), rival.close()]);
});

test('[APPR-4] [APPR-6] an agent that waits is woken by the decision, yes or no, and told the reason', async () => {
  const { house, daemon, agent } = await scene();
  const ask = (capability: string) =>
    agent.call('scopegate_request_capability', { capability, reason: 'to test', wait: true, timeout_s: 30 });
  const decideWhenOpen = async (operation: string, more: object = {}): Promise<void> => {
    let id = '';
    await until(async () => {
      const [open] = (await daemon.line.operate('approvals.list', {})) as { approval_id: string }[];
      id = open?.approval_id ?? '';
      return id !== '';
    }, 'the question is open');
    await decide(house, daemon, operation, { id, ...more });
  };
  const startedAt = performance.now();
  const [denied] = await Promise.all([ask('fix:call:hit'), decideWhenOpen('approvals.deny', { reason: 'use staging' })]);
  expect(JSON.parse(denied.text)).toMatchObject({ granted: false, status: 'denied', reason: 'use staging' });
  expect(JSON.parse((await ask('fix:call:hit')).text)).toMatchObject({
    status: 'denied',
    retry_after_s: expect.any(Number) as number,
  });
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  await agent.close();
});
