// What an agent is shown, and what a name means: lists that tell the truth, and denials that do not tell what exists.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';

const policies = `
version: 1
agents:
  'kimi-*':
    capabilities:
      - { match: 'up:call:echo', effect: allow }
      - { match: 'up:call:write_note', effect: ask }
      - { match: 'flip:call:*', effect: allow }
  'barred-*':
    limits: { deny: ['flip:*:*', 'up:call:{e*,no_such_tool}'] }
    capabilities:
      - { match: '*:call:*', effect: allow }
`;
const own = [
  'scopegate_can_i',
  'scopegate_diagnose',
  'scopegate_inject_file',
  'scopegate_list_capabilities',
  'scopegate_policy_summary',
  'scopegate_propose_policy',
  'scopegate_register_upstream',
  'scopegate_request_capabilities',
  'scopegate_request_capability',
  'scopegate_upstream_health',
  'scopegate_vault_status',
];

let house: GatewayHouse;
let kimi: HouseAgent;
let barred: HouseAgent;
beforeAll(async () => {
  house = await openGatewayHouse({ policies, upstreams: { up: ['echo'], flip: ['flip-schema'] } });
  [kimi, barred] = [await house.agent(), await house.agent('barred-1')];
});
afterAll(() => house.close());

const soon = { timeout: 8_000, interval: 10 };
const tools = (names: readonly string[]): string[] => names.filter((name) => name.includes('__')).toSorted();

async function quarantineTarget(agent: HouseAgent): Promise<void> {
  await agent.call('flip__flip');
  await vi.waitFor(() => expect(agent.toolNames()).not.toContain('flip__target'), soon);
}

/** From here on the definition of `flip__target` waits for a person, and `extra` was never accepted. */
async function flip(): Promise<void> {
  await quarantineTarget(kimi);
  onTestFinished(async () => {
    await kimi.call('flip__restore');
    await vi.waitFor(() => expect(kimi.toolNames()).toContain('flip__target'), soon);
  });
}

describe('lists', () => {
  test('[TOOL-8] show what may be called, asked for or proposed, and nothing that a deny covers', () => {
    expect(tools(kimi.toolNames())).toEqual(
      ['add', 'echo', 'env', 'fails', 'odd', 'params', 'pid', 'refuses', 'write_note']
        .map((name) => `up__${name}`)
        .concat(['flip', 'flop', 'restore', 'steady', 'target'].map((name) => `flip__${name}`))
        .toSorted(),
    );
    expect(tools(barred.toolNames())).toEqual(
      ['add', 'fails', 'odd', 'params', 'pid', 'refuses', 'write_note'].map((name) => `up__${name}`),
    );
  });

  test('[TOOL-8] are those of the endpoint: own tools, or one upstream under its own names', async () => {
    expect(
      kimi
        .toolNames()
        .filter((name) => !name.includes('__'))
        .toSorted(),
    ).toEqual(own);
    expect(kimi.toolNames({ kind: 'toolset', toolset: 'gate' }).toSorted()).toEqual(own);
    const up = { kind: 'upstream', upstream: 'up' } as const;
    expect(barred.toolNames(up)).toEqual(['add', 'fails', 'odd', 'params', 'pid', 'refuses', 'write_note']);
    for (const upstream of ['flip', 'nowhere']) expect(barred.toolNames({ kind: 'upstream', upstream })).toEqual([]);
    expect(await kimi.text('echo', { message: 'plain name' }, { scope: up })).toBe('plain name');
    for (const [name, scope] of [
      ['echo', { kind: 'all' }],
      ['up__echo', up],
      ['scopegate_can_i', up],
      ['up__echo', { kind: 'toolset', toolset: 'gate' }],
    ] as const) {
      expect((await kimi.refusal(name, {}, { scope })).code).toBe('gateway.unknown_tool');
    }
  });

  test('[DOOR-8] whoever listens is told of a change of catalog, pins and policy, in time to read the new list', async () => {
    // A house of its own: what is accepted here stays accepted.
    const fresh = await openGatewayHouse({ policies, upstreams: { flip: ['flip-schema'] } });
    onTestFinished(() => fresh.close());
    const agent = await fresh.agent();
    const seen: string[][] = [];
    const stop = fresh.dispatch.onListChanged((list) => void (list === 'tools' && seen.push(tools(agent.toolNames()))));
    const last = (): readonly string[] => seen.at(-1) ?? [];
    await quarantineTarget(agent);
    await vi.waitFor(() => expect(last()).not.toContain('flip__target'), soon);
    await fresh.decide('fleet.accept-tools', { upstream: 'flip', all: true });
    expect(last()).toEqual(expect.arrayContaining(['flip__target', 'flip__extra']));
    await fresh.adopt(policies.replace("'kimi-*':", "'kimi-*':\n    limits: { deny: ['flip:*:*'] }"));
    expect(last().filter((name) => name.startsWith('flip'))).toEqual([]);
    stop();
    const told = seen.length;
    await fresh.adopt(policies);
    expect(seen).toHaveLength(told);
    expect(tools(agent.toolNames())).toContain('flip__extra');
  });
});

describe('names', () => {
  /** What the agent reads, its own name of the tool taken out. */
  const answer = async (agent: HouseAgent, name: string): Promise<string> => {
    const [upstream = '', tool = ''] = name.split('__');
    const { text } = await agent.reads(name, { message: 'x' });
    return text.replaceAll(`${upstream}:call:${tool}`, 'CAPABILITY').replaceAll(name, 'NAME');
  };

  test('[TOOL-8] [TOOL-7] what a deny covers answers the same policy_denied whether it exists, is quarantined or never was', async () => {
    await flip();
    const names = ['flip__steady', 'flip__target', 'flip__extra', 'flip__never_was'];
    const answers = await Promise.all(names.map((name) => answer(barred, name)));
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? '')).toEqual({
      error: true,
      kind: 'policy_denied',
      message:
        "ERROR: Capability 'CAPABILITY' not granted. Call scopegate_request_capability first (or scopegate_propose_policy if denied). " +
        "Reason: Capability 'CAPABILITY' is blocked by the hard limit 'flip:*:*'.",
      next_action: 'human',
      next_step: 'Hard limit — do NOT attempt this in any form; only a human policy change would allow it.',
    });
    expect(await answer(barred, 'up__no_such_tool')).toBe(await answer(barred, 'up__echo'));
  });

  test('[TOOL-8] asking about it tells no more', async () => {
    for (const tool of ['scopegate_can_i', 'scopegate_request_capability']) {
      const about = async (capability: string): Promise<string> =>
        (await barred.reads(tool, { capability, ...(tool.endsWith('can_i') ? {} : { reason: 'r' }) })).text.replaceAll(
          capability,
          'C',
        );
      expect(await about('flip:call:never_was')).toBe(await about('flip:call:steady'));
    }
  });

  test('[TOOL-7] without a deny an unknown name is the ERROR of the page, and a quarantined one sends to the human', async () => {
    await flip();
    for (const name of ['up__never', 'nowhere__at_all', 'plain', '__x', 'up__', 'UP__echo', 'up__e cho', 'flip__never']) {
      expect(await kimi.reads(name)).toEqual({ text: `ERROR: Unknown tool '${name}'`, isError: true });
    }
    expect(JSON.parse((await kimi.reads('flip__target')).text)).toEqual({
      error: true,
      kind: 'policy_denied',
      message: "The definition of 'flip__target' changed and waits for a human to accept it.",
      next_action: 'human',
      next_step: 'Ask the human to run: sallyport tools review flip',
    });
  });

  test('[TOOL-7] what exists and no rule speaks of is missing_scope, to be asked for', async () => {
    expect(JSON.parse((await kimi.reads('up__env')).text)).toEqual({
      error: true,
      kind: 'missing_scope',
      message:
        "ERROR: Capability 'up:call:env' not granted. Call scopegate_request_capability first (or scopegate_propose_policy if denied). " +
        `Reason: No auto_approve rule matches 'up:call:env' for agent '${kimi.caller.agent}'.`,
      next_action: 'request_capability',
      next_step: 'Call scopegate_request_capability with exactly this capability and a reason.',
    });
  });
});
