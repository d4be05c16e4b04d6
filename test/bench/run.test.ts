// The benchmark as it is typed: that a run measures what it says, ends by itself, holds its budgets and refuses what it does not know.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeBudgets } from '../../bench/budgets.ts';
import { readOptions } from '../../bench/options.ts';
import { summarise } from '../../bench/summary.ts';
import { figures, lapOf } from '../support/bench-rows.ts';

const root = new URL('../..', import.meta.url).pathname;

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function benchIn(cwd: string, ...args: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.ts', ...args], {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

function bench(...args: string[]): Ended {
  return benchIn(root, ...args);
}

const tiny = ['--quick', '--json', '--tolerance', '100', '--cells', '8x100B', '--arms', 'direct,floor'];

test('a run of one cell measures direct and floor on every route that has it, and ends by itself', () => {
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

/** A copy of the benchmark with results as a full run leaves them. */
function cloneWith(readP50Ms: number, full: boolean): string {
  const clone = mkdtempSync(join(tmpdir(), 'sallyport-redraw-'));
  const skipped = /node_modules|bench\/out$/;
  cpSync(join(root, 'bench'), join(clone, 'bench'), { recursive: true, filter: (from) => !skipped.test(from.slice(root.length)) });
  cpSync(join(root, 'scripts/pinned-packages.ts'), join(clone, 'scripts/pinned-packages.ts'));
  writeFileSync(join(clone, 'package.json'), '{"type":"module","version":"0.0.0"}');
  const laps = [lapOf('stdio', '32x100B', { floor: figures(1, 100), 'sallyport read': figures(readP50Ms, 110) })];
  const rows = summarise(laps, ['floor', 'sallyport read'], []);
  const budgets = judgeBudgets(rows, [], {}).filter(({ text }) => text.startsWith('HTTP to stdio, 32x100B read'));
  const system = { version: '0.0.0', node: '24.7.0', platform: 'linux x64', cores: 2, peers: {} };
  const facts = { at: '2026-11-30T00:00:00.000Z', system, full, rounds: 5, laps: 1, voided: 0, minutes: 12.34 };
  mkdirSync(join(clone, 'bench/out/full'), { recursive: true });
  writeFileSync(join(clone, 'bench/out/full/results.json'), JSON.stringify({ ...facts, rows, budgets, absences: [], starts: [] }));
  return clone;
}

test('a full run over a budget ends with 1 after it was drawn and quoted, and with 0 when it is only looked at', () => {
  const clone = cloneWith(1.6, true);
  try {
    const over = benchIn(clone, '--redraw', '--write-readme');
    expect({ status: over.status, stderr: over.stderr }).toEqual({
      status: 1,
      stderr: 'bench: 1 of 2 budgets are not held; --no-gate looks without failing\n',
    });
    expect(over.stdout).toContain('32x100B read: p50 1.60 × floor, at most 1.5 (goal 1.2: over): **over**');
    expect(benchIn(clone, '--redraw', '--no-gate').status).toBe(0);
    const readme = readFileSync(join(clone, 'bench/README.md'), 'utf8');
    expect(readme).toContain('Version 0.0.0, Node 24.7.0');
    expect(readme).toContain('| 32x100B | sallyport read | 1.60 (1.60–1.60) |');
    expect(readme).toContain('## Method');
    expect(readdirSync(join(clone, 'bench/charts'))).toContain('stdio-32-p50.svg');
    expect(readFileSync(join(clone, 'bench/charts/stdio-32-p50.svg'), 'utf8')).toContain('>1.60</text>');
  } finally {
    rmSync(clone, { recursive: true });
  }
}, 20_000);

test('a run within its budgets ends with 0, and one of a part is never quoted', () => {
  const within = cloneWith(1.4, true);
  const part = cloneWith(1.6, false);
  try {
    expect(benchIn(within, '--redraw').status).toBe(0);
    const { status, stderr } = benchIn(part, '--redraw', '--write-readme');
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'bench: that was no full run, so it is not quoted in the README\n' });
    expect(readFileSync(join(part, 'bench/README.md'), 'utf8')).toBe(readFileSync(join(root, 'bench/README.md'), 'utf8'));
  } finally {
    rmSync(within, { recursive: true });
    rmSync(part, { recursive: true });
  }
}, 20_000);
