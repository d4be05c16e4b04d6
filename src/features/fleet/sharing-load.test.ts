import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { acceptAll, callTool, fleetHome, statusOf, textOf } from '../../../test/support/fleet-home.ts';
import { processTable } from '../../platform/process-table.ts';

const script = fileURLToPath(new URL('../../../test/fixtures/small-server.sh', import.meta.url));
const cycles = 1_000;
const atOnce = 8;

test(
  '[SHARE-5] a thousand sessions that come and go leave no process, and never more of them than are allowed',
  { timeout: 180_000 },
  async () => {
    const transport = { kind: 'stdio', command: '/bin/sh', args: [script] };
    const entry = { name: 'up', transport, sharing: 'session', maxSessions: atOnce };
    const home = await fleetHome(`upstreams:\n  - ${JSON.stringify(entry)}\n`);
    const fleet = await home.open();
    await acceptAll(fleet);
    const pids = new Set<string>();
    let most = 0;
    const ours = (): number => processTable().filter(({ parent }) => parent === process.pid).length;
    const before = ours();

    async function cycle(from: number): Promise<void> {
      for (let at = from; at < cycles; at += atOnce) {
        const session = `s${at}`;
        pids.add(textOf(await callTool(fleet, 'up', 'pid', {}, { agent: 'a', session })));
        if (at % 50 === 0) most = Math.max(most, ours() - before);
        fleet.endSession(session);
      }
    }

    await Promise.all(Array.from({ length: atOnce }, (_, from) => cycle(from)));
    expect(pids.size).toBe(cycles);
    expect(most).toBeLessThanOrEqual(atOnce);
    await expect.poll(() => ours() - before, { timeout: 10_000 }).toBe(0);
    expect(statusOf(fleet, 'up')).toMatchObject({ state: 'ready', sessions: 0, circuit: 'closed' });
    const events = home.audit.entries.map(({ event }) => event);
    expect(events.filter((event) => event === 'upstream.started')).toHaveLength(cycles + 1);
    expect(events.filter((event) => event === 'upstream.exited')).toHaveLength(0);
  },
);
