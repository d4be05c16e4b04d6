// The arithmetic of the benchmark: statistics, the grid, and rows out of laps.
import { expect, test } from 'vitest';
import { grid } from '../../bench/cells.ts';
import { median, percentile } from '../../bench/statistics.ts';
import { summarise } from '../../bench/summary.ts';
import { figures, lapOf } from '../support/bench-rows.ts';

const subjects = ['direct', 'floor', 'sallyport read', 'other'];

test('a percentile is the nearest rank and a median the middle', () => {
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(2);
  expect(percentile([1, 2, 3, 4], 0.99)).toBe(4);
  expect(percentile([], 0.5)).toBeNaN();
  expect(median([5, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeUndefined();
});

test('ratios are taken within a lap, and a void lap counts for nothing', () => {
  const rows = summarise(
    [
      lapOf('stdio', '32x100B', { floor: figures(1, 100, 50), 'sallyport read': figures(1.1, 90, 75) }),
      lapOf('stdio', '32x100B', { floor: figures(2, 200, 50), 'sallyport read': figures(2.2, 180, 75) }),
      { ...lapOf('stdio', '32x100B', { floor: figures(1, 1), 'sallyport read': figures(50, 50) }), counted: false },
    ],
    subjects,
    [],
  );
  const row = rows.find(({ subject }) => subject === 'sallyport read');
  expect(row?.laps).toBe(2);
  expect(row?.toFloor.p50).toBeCloseTo(1.1);
  expect(row?.toFloor.cpu).toBeCloseTo(0.9);
  expect(row?.toFloor.rss).toBeCloseTo(1.5);
  expect(row?.toFloor.addedMs).toBeCloseTo(0.15);
  expect(row?.toDirect).toEqual({});
});

test('the same cell of two routes makes two rows, each compared within its own', () => {
  const rows = summarise(
    [
      lapOf('stdio', '1x100B', { floor: figures(1, 10), 'sallyport read': figures(3, 30) }),
      lapOf('http', '1x100B', { floor: figures(2, 20), 'sallyport read': figures(2, 20) }),
    ],
    subjects,
    [],
  );
  expect(rows.map(({ route, subject, toFloor }) => [route, subject, toFloor.p50])).toEqual([
    ['stdio', 'floor', 1],
    ['stdio', 'sallyport read', 3],
    ['http', 'floor', 1],
    ['http', 'sallyport read', 1],
  ]);
});

test('a peer that failed has a row with the reason, and one that failed later keeps its laps beside it', () => {
  const rows = summarise(
    [
      lapOf('stdio', '1x1MB', { floor: figures(1, 10), other: figures(2, 20) }),
      lapOf('stdio', '1x1MB', { floor: figures(1, 10) }, { other: 'it ended' }),
      lapOf('stdio', '8x1MB', { floor: figures(1, 10) }, { other: 'too large' }),
    ],
    subjects,
    ['other'],
  );
  expect(rows.filter(({ subject }) => subject === 'other').map(({ cell, laps, failed }) => [cell, laps, failed])).toEqual([
    ['1x1MB', 1, 'it ended'],
    ['8x1MB', 0, 'too large'],
  ]);
  const [floor] = rows;
  expect(floor?.toPeers['other']?.p50).toBe(0.5);
});

test('the grid holds three payloads by three session counts, the bridge only the sequential ones, and refuses a name it does not know', () => {
  const names = (...args: Parameters<typeof grid>): string[] => grid(...args).flatMap(({ cells }) => cells.map(({ name }) => name));
  expect(names('stdio', 1, [])).toHaveLength(9);
  expect(names('http', 1, [])).toEqual(names('stdio', 1, []));
  expect(names('bridge', 1, [])).toEqual(['1x100B', '1x20KB', '1x1MB']);
  expect(names('stdio', 1, ['8x20KB'])).toEqual(['8x20KB']);
  expect(names('bridge', 1, ['8x20KB'])).toEqual([]);
  expect(() => grid('bridge', 1, ['9x9KB'])).toThrow('32x1MB');
});
