// The benchmark itself: that its arithmetic is right, that a run measures what it says, and that it leaves nothing behind.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { grid } from '../../bench/cells.ts';
import type { Figures } from '../../bench/load.ts';
import { percentile, median } from '../../bench/statistics.ts';
import { summarise } from '../../bench/summary.ts';

const root = new URL('../..', import.meta.url).pathname;

function figures(p50Ms: number, cpuUs: number): Figures {
  return { p50Ms, p95Ms: p50Ms, p99Ms: p50Ms, perSecond: 1000 / p50Ms, cpuUs, disturbance: 0 };
}

function lap(counted: boolean, floor: Figures, sallyport: Figures) {
  return { cell: '32x100B', counted, disturbance: 0, figures: { floor, 'sallyport read': sallyport } };
}

test('a percentile is the nearest rank and a median the middle', () => {
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(2);
  expect(percentile([1, 2, 3, 4], 0.99)).toBe(4);
  expect(percentile([], 0.5)).toBeNaN();
  expect(median([5, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeUndefined();
});

test('ratios are taken within a lap, and a void lap counts for nothing', () => {
  const rows = summarise([
    lap(true, figures(1, 100), figures(1.1, 90)),
    lap(true, figures(2, 200), figures(2.2, 180)),
    lap(false, figures(1, 1), figures(50, 50)),
  ]);
  const row = rows.find(({ subject }) => subject === 'sallyport read');
  expect(row?.laps).toBe(2);
  expect(row?.toFloor.p50).toBeCloseTo(1.1);
  expect(row?.toFloor.cpu).toBeCloseTo(0.9);
  expect(row?.toFloor.addedMs).toBeCloseTo(0.15);
  expect(row?.toDirect).toEqual({});
});

test('the grid holds three payloads by three session counts and refuses a name it does not know', () => {
  expect(grid(1, []).flatMap(({ cells }) => cells.map(({ name }) => name))).toHaveLength(9);
  expect(grid(1, ['8x20KB']).flatMap(({ cells }) => cells)).toHaveLength(1);
  expect(() => grid(1, ['9x9KB'])).toThrow('32x1MB');
});

test('a run of one cell measures direct and floor and ends by itself', () => {
  const args = ['bench/run.ts', '--quick', '--json', '--tolerance', '100', '--cells', '8x100B', '--arms', 'direct,floor'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 60_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'round 1 of 1, 100B\n' });
  const { rows } = JSON.parse(stdout) as { rows: { subject: string; figures: { p50Ms: number } }[] };
  expect(rows.map(({ subject }) => subject)).toEqual(['direct', 'floor']);
  for (const row of rows) expect(row.figures.p50Ms).toBeGreaterThan(0);
}, 70_000);

test('an unknown option or cell is refused with what there is', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/run.ts', '--cells', '9x9KB'], { cwd: root, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('bench: no such cell: 9x9KB; there are 1x100B');
});
