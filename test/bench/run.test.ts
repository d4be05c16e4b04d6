// The benchmark as it is typed: that a run measures what it says, ends by itself, leaves nothing behind and refuses what it does not know.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { readOptions } from '../../bench/options.ts';

const root = new URL('../..', import.meta.url).pathname;

function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['bench/run.ts', ...args], { cwd: root, encoding: 'utf8', timeout: 60_000 });
}

function homes(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('bench-'));
}

const tiny = ['--quick', '--json', '--tolerance', '100', '--cells', '8x100B', '--arms', 'direct,floor'];

test('a run of one cell measures direct and floor on every route that has it, and ends by itself', () => {
  const before = homes();
  const { status, stdout, stderr } = bench(...tiny, '--only', 'stdio,http');
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'round 1 of 1, stdio, 100B\nround 1 of 1, http, 100B\n' });
  const { rows, full } = JSON.parse(stdout) as {
    full: boolean;
    rows: { route: string; subject: string; figures: { p50Ms: number } }[];
  };
  expect(full).toBe(false);
  expect(rows.map(({ route, subject }) => `${route} ${subject}`)).toEqual([
    'stdio direct',
    'stdio floor',
    'http direct',
    'http floor',
  ]);
  for (const row of rows) expect(row.figures.p50Ms).toBeGreaterThan(0);
  expect(homes()).toEqual(before);
}, 70_000);

test('an unknown option, cell, route, arm or peer is refused with what there is', () => {
  const cases: readonly [string[], string][] = [
    [['--cells', '9x9KB', '--arms', 'direct'], 'no such cell: 9x9KB; there are 1x100B'],
    [['--only', 'pigeon'], 'no such route: pigeon; there are stdio, http, bridge'],
    [['--arms', 'nobody'], 'no such arm: nobody; there are direct, floor, sallyport'],
    [['--peers', 'floor'], 'no such peer: floor; there are all, none, mcp-proxy'],
    [['--quick', '--write-readme'], '--write-readme quotes full runs only'],
    [['--rounds', '0'], '--rounds takes a whole number from 1 to 20'],
    [['--colour'], '--colour'],
  ];
  for (const [args, message] of cases) {
    const { status, stderr } = bench(...args);
    expect({ args, status, said: stderr.includes(`bench: ${message}`) || stderr.includes(message) }).toEqual({
      args,
      status: 1,
      said: true,
    });
  }
}, 30_000);

test('only a run of everything at full length is held to the budgets, unless it is only looked at', () => {
  expect(readOptions([])).toMatchObject({ full: true, gate: true, peers: 'all' });
  expect(readOptions(['--no-gate'])).toMatchObject({ full: true, gate: false });
  expect(readOptions(['--peers', 'none'])).toMatchObject({ full: true, gate: true, peers: [] });
  for (const part of [['--quick'], ['--only', 'http'], ['--cells', '1x1MB'], ['--arms', 'floor'], ['--rounds', '1']]) {
    expect(readOptions(part)).toMatchObject({ full: false, gate: false });
  }
});

test('a whole run is bounded: 20 minutes as usual, 90 seconds when quick', () => {
  expect(readOptions([])?.limitMs).toBeLessThanOrEqual(20 * 60_000);
  expect(readOptions(['--quick'])?.limitMs).toBeLessThan(90_000);
});
