// kill -9 of the daemon at a drawn moment of a busy life: while it starts, adds, decides, adopts and calls. Whatever was acknowledged
// stands afterwards, nothing happened twice, no process is left, and the record verifies. The seed is printed; SEED=… repeats a run.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isAlive } from '../../src/app/process-alive.ts';
import { connectAgent } from '../support/agent-client.ts';
import { childrenOf } from '../support/processes.ts';
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

const rounds = 12;
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));

const policy = (version: number): string => `# version ${version}
version: 1
agents:
  "*":
    capabilities:
      - match: "fix:call:hit"
        effect: ask
      - match: "*:call:*"
        effect: allow
      - match: "fix:call:v${version}"
        effect: ask
`;

/** A small generator (mulberry32), so that a seed draws the same moments again. */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What the daemon said it did. */
interface Acknowledged {
  readonly agents: Map<string, string>;
  readonly upstreams: string[];
  /** Tags whose approved call answered. */
  readonly hits: string[];
  /** Ids of approvals whose approval was answered. */
  readonly approved: string[];
  policy: string;
}

test('[SEC-4] kill -9 at drawn moments loses nothing acknowledged, doubles nothing and leaves no process', async () => {
  console.info(`kill -9 in ${rounds} rounds, SEED=${seed}`);
  const random = randomOf(seed);
  const house = await openHouse({ policies: policy(0) });
  const counter = house.path('hits');
  writeFileSync(counter, '');
  const first = await house.up();
  await addUpstream(house, first, 'fix', 'counting', counter);
  await addUpstream(house, first, 'tree', 'grandchild');
  const known: Acknowledged = {
    agents: new Map([['a0', await addAgent(house, first, 'a0')]]),
    upstreams: ['fix', 'tree'],
    hits: [],
    approved: [],
    policy: policy(0),
  };
  await first.stop();

  for (let round = 1; round <= rounds; round += 1) {
    const moment = Math.floor(random() ** 2 * 2_000);
    const seen = new Set<number>();
    const daemon = await upOrKilled(house, round % 4 === 0 ? Math.floor(random() * 700) : undefined);
    if (daemon !== undefined) {
      const life = live(house, daemon, known, round);
      await delay(moment);
      for (const pid of [daemon.pid, ...childrenOf(daemon.pid), ...house.processes()]) seen.add(pid);
      await daemon.kill();
      await life;
    }
    await until(
      () => [...seen].every((pid) => !isAlive(pid)) && house.processes().length === 0,
      `nothing is left of round ${round}`,
    );
    await inspect(house, known);
  }
  // It was a busy life.
  expect(known.agents.size).toBeGreaterThan(rounds / 2);
  expect(known.hits.length).toBeGreaterThan(0);
}, 150_000);

/** The daemon, or `undefined` after it was killed while it started. */
async function upOrKilled(house: House, afterMs: number | undefined): Promise<RunningDaemon | undefined> {
  if (afterMs === undefined) return house.up();
  await house.upAndKill(afterMs);
  return undefined;
}

/** Does everything at once until the daemon is gone; what was answered is known from then on. */
async function live(house: House, daemon: RunningDaemon, known: Acknowledged, round: number): Promise<void> {
  const until = async (work: (at: number) => Promise<void>): Promise<void> => {
    try {
      for (let at = 0; ; at += 1) await work(at);
    } catch {
      // The daemon is gone, and with it the answer.
    }
  };
  const token = known.agents.get('a0') ?? '';
  await Promise.all([
    until(async (at) => {
      const name = `a${round}-${at}`;
      known.agents.set(name, await addAgent(house, daemon, name));
      if (at > 6) throw new Error('enough');
    }),
    until(async () => {
      if (round % 4 !== 1) throw new Error('not this round');
      const name = `u${round}`;
      await addUpstream(house, daemon, name, 'echo');
      known.upstreams.push(name);
      throw new Error('one is enough');
    }),
    until(async (at) => {
      const text = policy(round * 1_000 + at);
      writeFileSync(house.path('policies.yaml'), text);
      await decide(house, daemon, 'policy.adopt', {});
      known.policy = text;
      await delay(150);
    }),
    until(async () => {
      const agent = await connectAgent(daemon.agent_url, token, 8);
      for (let at = 0; ; at += 1) {
        const tag = `t${round}-${at}`;
        await agent.call('tree__child');
        const asked = await agent.call('fix__hit', { tag });
        const id = /scopegate approve (\S+)"/.exec(asked.text)?.[1] ?? /approve ([0-9a-f-]{36})/.exec(asked.text)?.[1];
        if (id === undefined) continue;
        await decide(house, daemon, 'approvals.approve', { id }).then(
          () => known.approved.push(id),
          (error: { code?: string }) => {
            // Another policy came into force meanwhile, or the daemon is gone.
            if (error.code === undefined || error.code.startsWith('daemon.')) throw error;
          },
        );
        const made = await agent.call('fix__hit', { tag });
        if (!made.isError) known.hits.push(tag);
      }
    }),
  ]);
}

async function inspect(house: House, known: Acknowledged): Promise<void> {
  const daemon = await house.up();
  const verified = (await daemon.line.operate('audit.verify', {})) as { ok: boolean };
  expect(verified).toMatchObject({ ok: true });

  const agents = ((await daemon.line.operate('agents.list', {})) as { name: string }[]).map(({ name }) => name);
  expect(agents).toEqual(expect.arrayContaining([...known.agents.keys()]));
  const last = [...known.agents.values()].at(-1) ?? '';
  await (await connectAgent(daemon.agent_url, last)).close();
  const upstreams = ((await daemon.line.operate('fleet.list', {})) as { name: string; state: string }[]).filter(
    ({ state }) => state !== 'unaccepted',
  );
  expect(upstreams.map(({ name }) => name)).toEqual(expect.arrayContaining(known.upstreams));
  const { state } = (await daemon.line.operate('policy.check', {})) as { state: string };
  expect(['in_force', 'waiting']).toContain(state);
  const adopted = createHash('sha256').update(known.policy).digest('hex');
  expect(await ids(daemon, 'policy.adopted', 'to')).toContain(adopted);

  // Every call that was answered ran, and none ran twice: an approval buys one execution.
  const hits = readFileSync(house.path('hits'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('hit '));
  expect(new Set(hits).size).toBe(hits.length);
  expect(hits).toEqual(expect.arrayContaining(known.hits.map((tag) => `hit ${tag}`)));

  const approved = await ids(daemon, 'approval.approved', 'approval');
  expect(approved).toEqual(expect.arrayContaining(known.approved.slice(-100)));
  const used = await ids(daemon, 'approval.used', 'approval');
  expect(new Set(used).size).toBe(used.length);
  const added = await ids(daemon, 'agent.added', 'agent');
  expect(new Set(added).size).toBe(added.length);
  expect(added.toSorted()).toEqual(agents.toSorted());

  // Every intent has its outcome by now, exactly one.
  const intents = (await recorded(daemon, 'call.intent')).map(({ id }) => id);
  const outcomes = (
    (await daemon.line.operate('audit.query', { event: 'call.outcome', limit: 200 })) as { records: { intent: string }[] }
  ).records;
  expect(new Set(outcomes.map(({ intent }) => intent)).size).toBe(outcomes.length);
  const closed = new Set(outcomes.map(({ intent }) => intent));
  expect(intents.slice(0, 100).filter((id) => !closed.has(id))).toEqual([]);
  // Looking is a good moment too: the next start finds what this one was just finishing.
  await daemon.kill();
}

/** One fact of every record of an event, all pages. */
async function ids({ line }: RunningDaemon, event: string, fact: string): Promise<string[]> {
  const found: string[] = [];
  for (let before: number | undefined; ;) {
    const page = (await line.operate('audit.query', { event, limit: 200, ...(before !== undefined && { before }) })) as {
      records: { facts: Record<string, string> }[];
      next_before?: number;
    };
    found.push(...page.records.map(({ facts }) => facts[fact] ?? ''));
    if (page.next_before === undefined) return found;
    before = page.next_before;
  }
}
