// Twenty agents with a thousand calls each, most allowed and some asked about, decided while they wait: memory stays flat, no process
// and no descriptor leaks, every call is on the record with its outcome, and the log verifies.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { connectAgent, type AgentClient } from '../support/agent-client.ts';
import { canSeeProcesses, childrenOf, residentOf, zombiesOf } from '../support/processes.ts';
import { addAgent, addUpstream, decide, openHouse, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const agents = 20;
const callsEach = 1_000;
/** Every so many calls one asks, is approved and made again. */
const askEvery = 25;
const policies = `version: 1
limits:
  rate_limit: 100000/m
agents:
  "*":
    capabilities:
      - match: "fix:call:echo"
        effect: allow
        redact: [pii]
      - match: "fix:call:write_note"
        effect: ask
`;

/** Collected early, so that what grows is what is kept and not what V8 has not looked at yet. */
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=4' };

async function callsOf(house: House, daemon: RunningDaemon, agent: AgentClient, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 1) {
    if (at % askEvery !== 0) {
      const { text } = await agent.call('fix__echo', { message: `call ${at}` });
      if (text !== `call ${at}`) throw new Error(`call ${at} answered ${text}`);
      continue;
    }
    const note = { note: `${agent.session} ${at}` };
    const asked = await agent.call('fix__write_note', note);
    const id = /approve ([0-9a-f-]{36})/.exec(asked.text)?.[1] ?? '';
    await decide(house, daemon, 'approvals.approve', { id });
    const { text } = await agent.call('fix__write_note', note);
    if (text !== `noted ${note.note}`) throw new Error(`call ${at} answered ${text}`);
  }
}

const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

describe.skipIf(!canSeeProcesses)('load', () => {
  test('[LOAD-1] 20 agents with 1,000 calls each, allow and ask: flat memory, no leaked child, every call on a log that verifies', async () => {
    const house = await openHouse({ policies });
    const daemon = await house.up(smallHeap);
    await addUpstream(house, daemon, 'fix', 'echo');
    const tokens: string[] = [];
    for (let at = 0; at < agents; at += 1) tokens.push(await addAgent(house, daemon, `agent-${at}`));
    const children = childrenOf(daemon.pid).length;
    const idle = descriptors(daemon.pid);
    const clients = await Promise.all(tokens.map((token) => connectAgent(daemon.agent_url, token)));
    const run = (from: number, to: number): Promise<unknown> =>
      Promise.all(clients.map((client) => callsOf(house, daemon, client, from, to)));

    const startedAt = performance.now();
    await run(0, callsEach / 5);
    await delay(500);
    const early = residentOf(daemon.pid);
    await run(callsEach / 5, callsEach);
    const seconds = (performance.now() - startedAt) / 1_000;
    await Promise.all(clients.map((client) => client.close()));
    await delay(1_500);
    const late = residentOf(daemon.pid);
    console.info(
      `${agents * callsEach} calls in ${seconds.toFixed(1)} s, RSS ${early.toFixed(0)} MiB after a fifth, ${late.toFixed(0)} at the end`,
    );

    expect(late - early).toBeLessThan(24);
    expect(childrenOf(daemon.pid)).toHaveLength(children);
    expect(zombiesOf(daemon.pid)).toEqual([]);
    // Connections of this test's own client linger for some seconds.
    await until(() => descriptors(daemon.pid) - idle < 4, 'no descriptor is left', 20_000);
    expect(await daemon.line.operate('approvals.list', {})).toEqual([]);

    const verified = (await daemon.line.operate('audit.verify', {})) as { ok: boolean; records: number };
    expect(verified.ok).toBe(true);
    // Intent and outcome of each call; request, decision and use of each question; one grant for each agent.
    const asked = agents * (callsEach / askEvery);
    expect(verified.records).toBeGreaterThanOrEqual(2 * agents * callsEach + 3 * asked + agents);
    const again = (await daemon.stop(), await house.up());
    expect(await again.line.operate('audit.verify', {})).toMatchObject({ ok: true });
  }, 180_000);
});
