// Upstream servers that are missing, mute, dying or endless, beside a good one: what the caller is told and how soon, what is left of
// them, and that the good one never notices.
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connectAgent, type AgentClient } from '../support/agent-client.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { canSeeProcesses, childrenOf, zombiesOf } from '../support/processes.ts';
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

const policies = `version: 1
agents:
  "*":
    capabilities:
      - match: "*:call:*"
        effect: allow
`;

async function scene(): Promise<{ house: House; daemon: RunningDaemon; agent: AgentClient }> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  await addUpstream(house, daemon, 'good', 'echo');
  return { house, daemon, agent: await connectAgent(daemon.agent_url, await addAgent(house, daemon, 'coder'), 64) };
}

async function unharmed(agent: AgentClient): Promise<void> {
  const startedAt = performance.now();
  expect(await agent.call('good__echo', { message: 'here' })).toMatchObject({ text: 'here', isError: false });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
}

interface Upstream {
  readonly name: string;
  readonly state: string;
  readonly error?: string;
  readonly stderr?: string;
}
const upstream = async ({ line }: RunningDaemon, name: string): Promise<Upstream | undefined> =>
  ((await line.operate('fleet.list', {})) as Upstream[]).find((one) => one.name === name);

test('[FLEET-10] a missing binary beside a good upstream is said at once, in its place, over a restart too', async () => {
  const { house, daemon, agent } = await scene();
  const run = ['/no/such/program', '--serve'];
  const added = (await decide(house, daemon, 'fleet.add', { name: 'gone', run })) as {
    connection: { ok: boolean; error?: string };
  };
  expect(added.connection).toMatchObject({ ok: false, error: expect.stringContaining('/no/such/program') as string });
  await unharmed(agent);
  expect((await agent.call('gone__anything')).isError).toBe(true);
  const health = JSON.parse((await agent.call('scopegate_diagnose')).text) as {
    upstreams: Record<string, { ok: boolean; error?: string }>;
  };
  expect(health.upstreams).toMatchObject({
    good: { ok: true },
    gone: { ok: false, error: expect.stringContaining('/no/such/program') as string },
  });
  await daemon.stop();
  const again = await house.up();
  const next = await connectAgent(again.agent_url, await addAgent(house, again, 'next'));
  await unharmed(next);
  expect(await upstream(again, 'gone')).toMatchObject({ error: expect.stringContaining('/no/such/program') as string });
});

test('[FLEET-4] a server that dies before it answers initialize fails fast, with the end of its stderr', async () => {
  const { house, daemon, agent } = await scene();
  const startedAt = performance.now();
  const added = await addUpstream(house, daemon, 'dying', 'exit-at-once', '3');
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(JSON.stringify(added)).toMatch(/exited with code 3 before it answered initialize/);
  expect((await upstream(daemon, 'dying'))?.stderr).toContain('no configuration');
  await unharmed(agent);
});

test('[FLEET-1] a server that never answers initialize ends at its start deadline, and its process is gone', async () => {
  const { house, daemon, agent } = await scene();
  const [command, ...args] = fixtureCommand('mute');
  const text = readFileSync(house.path('sallyport.yaml'), 'utf8');
  writeFileSync(
    house.path('sallyport.yaml'),
    `${text}  - ${JSON.stringify({ name: 'mute', transport: { kind: 'stdio', command, args }, startTimeoutMs: 700 })}\n`,
  );
  await until(async () => (await upstream(daemon, 'mute')) !== undefined, 'it is seen');
  const startedAt = performance.now();
  const accepted = await decide(house, daemon, 'fleet.accept', { name: 'mute' });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(JSON.stringify(accepted)).toMatch(/700 ms/);
  await unharmed(agent);
  if (canSeeProcesses) await until(() => childrenOf(daemon.pid).length === 2, 'only the good one and the guard are left');
});

test('[FLEET-12] a call that is never answered, with endless progress or without, ends at its deadline and is cancelled upstream', async () => {
  const { house, daemon, agent } = await scene();
  const text = readFileSync(house.path('sallyport.yaml'), 'utf8');
  const [command, ...args] = fixtureCommand('never-answers-call');
  writeFileSync(
    house.path('sallyport.yaml'),
    `${text}  - ${JSON.stringify({ name: 'slow', transport: { kind: 'stdio', command, args }, callTimeoutMs: 400 })}\n`,
  );
  await until(async () => (await upstream(daemon, 'slow')) !== undefined, 'it is seen');
  await decide(house, daemon, 'fleet.accept', { name: 'slow' });
  const timed = async (call: Promise<unknown>): Promise<[unknown, number]> => {
    const startedAt = performance.now();
    return [await call, performance.now() - startedAt];
  };
  const nag = agent.rpc('tools/call', { name: 'slow__nag', arguments: {}, _meta: { progressToken: 'p' } });
  const answers = await Promise.all([timed(agent.call('slow__hang')), timed(nag)]);
  const [hung, nagged] = answers;
  expect(JSON.stringify(hung[0])).toMatch(/within (?:3[5-9]\d|400) ms\./);
  expect(hung[1]).toBeGreaterThan(350);
  expect(hung[1]).toBeLessThan(3_000);
  // As long as it is at work, but not for ever.
  expect(JSON.stringify(nagged[0])).toMatch(/within (?:3[89]|40)\d\d ms, for all its progress/);
  expect(nagged[1]).toBeGreaterThan(3_500);
  expect(nagged[1]).toBeLessThan(10_000);
  expect(JSON.parse((await agent.call('slow__cancelled')).text)).toHaveLength(2);
  const outcomes = (await recorded(daemon, 'call.outcome')).map(({ facts }) => facts?.['outcome']);
  expect(outcomes.filter((outcome) => outcome === 'timeout')).toHaveLength(2);
  await unharmed(agent);
});

test('[FLEET-2] [FLEET-10] floods, garbage, crashes and a frozen server beside the good one', async () => {
  const { house, daemon, agent } = await scene();
  const characters: [string, [string, ...string[]]][] = [
    ['noisy', ['flood-stdout']],
    ['endless', ['flood-stdout', 'line']],
    ['errors', ['flood-stderr']],
    ['garbled', ['garbage']],
    ['crashing', ['crash-on-call']],
    ['old', ['wrong-version']],
    ['pages', ['endless-pages']],
    ['restless', ['restless-list']],
    ['bad', ['bad-definitions']],
  ];
  for (const [name, behaviour] of characters) {
    await addUpstream(house, daemon, name, ...behaviour);
    await unharmed(agent);
  }
  const hung = agent.call('crashing__hang');
  expect((await agent.call('crashing__crash', { code: 7 })).isError).toBe(true);
  expect((await hung).envelope).toBeDefined();
  expect(await agent.call('garbled__echo', { message: 'through noise' })).toMatchObject({ text: 'through noise' });
  expect(await agent.call('bad__good')).toMatchObject({ isError: false });
  await unharmed(agent);
  expect(await daemon.stop()).toBe(0);
  expect(house.processes()).toEqual([]);
}, 60_000);

describe.skipIf(!canSeeProcesses)('processes', () => {
  test('[FLEET-5] ten agents with fifty calls each at once leave one child a server, no zombie and no open call', async () => {
    const { house, daemon } = await scene();
    await addUpstream(house, daemon, 'wrapped', 'grandchild');
    const agents = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => connectAgent(daemon.agent_url, await addAgent(house, daemon, `a${at}`), 50)),
    );
    const answers = await Promise.all(
      agents.flatMap((agent) => Array.from({ length: 50 }, (_, at) => agent.call('good__echo', { message: `${at}` }))),
    );
    expect(answers.every(({ isError }) => !isError)).toBe(true);
    // The two servers and the guard; the grandchild is a child of its server.
    expect(childrenOf(daemon.pid)).toHaveLength(3);
    expect(zombiesOf(daemon.pid)).toEqual([]);
    await Promise.all(agents.map((agent) => agent.close()));
    expect((await recorded(daemon, 'call.outcome')).every(({ facts }) => facts?.['outcome'] === 'ok')).toBe(true);
  });

  test('[FLEET-5] a wrapper that dies takes its grandchild with it, also under a shell as npx starts one', async () => {
    const { house, daemon, agent } = await scene();
    const line = fixtureCommand('grandchild')
      .map((word) => `'${word}'`)
      .join(' ');
    await decide(house, daemon, 'fleet.add', { name: 'npx', run: ['sh', '-c', `${line}; true`] });
    const grandchild = Number((await agent.call('npx__child')).text);
    expect(grandchild).toBeGreaterThan(1);
    expect(house.processes().length).toBeGreaterThanOrEqual(4);
    await decide(house, daemon, 'fleet.remove', { name: 'npx' });
    await until(() => house.processes().length === 2, 'only the daemon and the good server are left');
    expect(house.processes()).not.toContain(grandchild);
    await unharmed(agent);
  });
});
