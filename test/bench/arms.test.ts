// Every arm, through the load client of a run: one correct call at a tiny size on each route it takes. Peers that are not installed are
// skipped, and say so; `npm run bench` installs them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { assertAnswered } from '../../bench/client.ts';
import { stopAll } from '../../bench/children.ts';
import { closeRunner, measure, openRunner, type Runner } from '../../bench/lap.ts';
import { descendantsOf } from '../../bench/machine.ts';
import { missingPeers, pinnedPeers } from '../../bench/peers.ts';
import { everyArm } from '../../bench/roster.ts';

const cell = { name: '2x50B', sessions: 2, size: 50, warmUp: 1, calls: 2 };
const large = { ...cell, name: '1x30KB', sessions: 1, size: 30_000 };
const routes = ['stdio', 'http', 'bridge'] as const;
const missing = missingPeers();
if (missing.length > 0)
  console.warn(`PEERS NOT TESTED, not installed: ${missing.join(', ')}; npm ci --prefix bench/peers --ignore-scripts`);

/** Every home is made below here, so that what is left of one shows. */
const place = mkdtempSync(join(tmpdir(), 'b-'));
vi.stubEnv('TMPDIR', place);

afterAll(async () => {
  await stopAll();
  vi.unstubAllEnvs();
  rmSync(place, { recursive: true });
});

/** All processes behind a runner: the load client's, the arm's and what they started. */
function familyOf({ running, client }: Runner): number[] {
  const roots = [running.pid, client.pid].filter((pid) => pid !== undefined);
  return roots.flatMap((pid) => [pid, ...descendantsOf(pid).keys()]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

for (const arm of everyArm) {
  const able = routes.filter((route) => arm.cannot?.[route] === undefined);
  test.skipIf(arm.peer === true && missing.includes(arm.name))(
    `${arm.name} answers calls of every tool and size on ${able.join(', ')}, and leaves nothing behind`,
    async () => {
      for (const route of able) {
        const runner = await openRunner(arm, route);
        let family: number[] = [];
        try {
          for (const tool of arm.tools) {
            for (const each of [cell, large]) {
              const { p50Ms, disturbance } = await measure(runner, tool, each, 1000);
              expect(p50Ms).toBeGreaterThan(0);
              expect(disturbance).toBeGreaterThanOrEqual(0);
            }
          }
          family = familyOf(runner);
        } finally {
          await closeRunner(runner);
        }
        expect(family.length).toBeGreaterThan(0);
        await vi.waitFor(() => expect(family.filter(isAlive)).toEqual([]), { timeout: 5000, interval: 50 });
        expect(readdirSync(place)).toEqual([]);
      }
    },
    60_000,
  );
}

test('every arm takes a route or says why not, and the peers are those that are pinned', () => {
  for (const { cannot } of everyArm) for (const reason of Object.values(cannot ?? {})) expect(reason).toMatch(/\w+ \w+/);
  const peers = everyArm.filter(({ peer }) => peer).map(({ name }) => name);
  expect(peers.toSorted()).toEqual(Object.keys(pinnedPeers()).toSorted());
  for (const version of Object.values(pinnedPeers())) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

test('an answer that is not the asked one is no call', () => {
  const opening = '2026-11-30T21:04:17Z  GET /packages/@acme/ledger-client?page=12  200  18.4 ms';
  const result = (text: string): Buffer =>
    Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${text}"}]}}`);
  expect(() => assertAnswered(result(opening.slice(0, 50)), 50)).not.toThrow();
  expect(() => assertAnswered(result(opening.padEnd(20_000, '.')), 20_000)).not.toThrow();
  expect(() => assertAnswered(result(opening), 5000)).toThrow('not the asked result of 5000 bytes');
  expect(() => assertAnswered(result('x'.repeat(20_000)), 20_000)).toThrow('not the asked result');
  expect(() => assertAnswered(Buffer.from(`{"error":{"code":-32603,"message":"${opening}"}}`), 50)).toThrow('not the asked result');
  const failed = Buffer.from(`{"result":{"isError":true,"content":[{"text":"${opening}"}]}}`);
  expect(() => assertAnswered(failed, 50)).toThrow('not the asked result');
});
