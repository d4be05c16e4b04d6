// What the report promises: every budget judged from the figures, and none passed for want of them.
import { expect, test } from 'vitest';
import type { Route } from '../../bench/arm.ts';
import { judgeBudgets, type Budget } from '../../bench/budgets.ts';
import { drawReport } from '../../bench/report.ts';
import { summarise, type Row } from '../../bench/summary.ts';
import { figures, lapOf } from '../support/bench-rows.ts';

const subjects = ['floor', 'sallyport read', 'sallyport write', 'other'];
const cells = ['1', '8', '32'].flatMap((sessions) => ['100B', '20KB', '1MB'].map((payload) => `${sessions}x${payload}`));
const starts = [{ name: 'sallyport', readyMs: 300, times: 5 }];
const peers = { other: { http: 'it cannot' } };

interface Given {
  readonly read?: number;
  readonly cpu?: number;
  readonly rss?: number;
  readonly write?: number;
  readonly peer?: number;
}

/** Every cell of both routes alike; ratios to a floor of 1 ms, 100 µs and 100 MB. */
function rowsOf({ read = 1.1, cpu = 1.1, rss = 1.3, write = 1.9, peer = 3 }: Given): Row[] {
  const routes: readonly Route[] = ['stdio', 'http'];
  const laps = routes.flatMap((route) =>
    cells.map((cell) =>
      lapOf(route, cell, {
        floor: figures(1, 100, 100),
        'sallyport read': figures(read, cpu * 100, rss * 100),
        'sallyport write': figures(write, 200, 200),
        ...(route === 'stdio' ? { other: figures(peer, peer * 100, 300) } : {}),
      }),
    ),
  );
  return summarise(laps, subjects, ['other']);
}

function missed(budgets: readonly Budget[]): string[] {
  return budgets.filter(({ verdict }) => verdict !== 'within').map(({ text }) => text);
}

test('a run within every budget misses none, and each promise has a line for both kinds of upstream', () => {
  const budgets = judgeBudgets(rowsOf({}), starts, peers);
  expect(missed(budgets)).toEqual([]);
  const texts = budgets.map(({ text }) => text).join('\n');
  for (const title of ['HTTP to stdio', 'HTTP to HTTP']) {
    for (const payload of ['100B', '20KB', '1MB']) expect(texts).toContain(`${title}, 32x${payload} read: CPU 1.10 × floor`);
  }
  expect(texts).toContain('HTTP to stdio: p50 and CPU less than other in every cell (9 compared, 0 it failed)');
  expect(texts).not.toContain('HTTP to HTTP: p50 and CPU less than other');
});

test('each budget fails by its own figure and no other', () => {
  const cases: readonly [Given, RegExp, number][] = [
    [{ read: 1.6 }, /32x\w+ read: p50 1\.60/, 6],
    [{ cpu: 1.51 }, /32x\w+ read: CPU 1\.51/, 6],
    [{ rss: 1.7 }, /RSS 1\.70 × floor at worst/, 2],
    [{ write: 2.2 }, /x100B write: 1\.20 ms over the floor/, 6],
  ];
  for (const [given, line, count] of cases) {
    const lines = missed(judgeBudgets(rowsOf(given), starts, peers));
    expect(lines).toHaveLength(count);
    for (const text of lines) expect(text).toMatch(line);
  }
  expect(missed(judgeBudgets(rowsOf({}), [{ name: 'sallyport', readyMs: 501, times: 5 }], peers))).toEqual([
    'ready without upstreams after 501 ms, at most 500 ms',
  ]);
});

test('the goal of the design is shown beside the budget and does not fail it', () => {
  const [first] = judgeBudgets(rowsOf({ read: 1.4 }), starts, peers);
  expect(first).toEqual({ text: 'HTTP to stdio, 32x100B read: p50 1.40 × floor, at most 1.5 (goal 1.2: over)', verdict: 'within' });
});

test('a peer that is cheaper in one cell is named with the cell, and an equal one is not beaten', () => {
  const [line] = missed(judgeBudgets(rowsOf({ peer: 1.1 }), starts, peers));
  expect(line).toContain('not in 1x100B p50 1.00 ×, 1x100B CPU 1.00 ×');
});

test('what was not measured is no budget held', () => {
  const budgets = judgeBudgets([], [], peers);
  expect(budgets.length).toBeGreaterThan(20);
  expect(new Set(budgets.map(({ verdict }) => verdict))).toEqual(new Set(['not measured']));
});

test('a peer that failed a cell is not compared there, and is in the table with its reason', () => {
  const laps = [
    lapOf('stdio', '1x100B', { floor: figures(1, 1), 'sallyport read': figures(1, 1), other: figures(2, 2) }),
    lapOf('stdio', '32x1MB', { floor: figures(1, 1), 'sallyport read': figures(1, 1) }, { other: 'ended | with 1\nand more' }),
  ];
  const rows = summarise(laps, subjects, ['other']);
  const budget = judgeBudgets(rows, starts, peers).find(({ text }) => text.includes('less than other'));
  expect(budget).toMatchObject({ verdict: 'within', text: expect.stringContaining('(1 compared, 1 it failed)') as string });
  const absences = [{ route: 'stdio' as const, subject: 'third', reason: 'it serves nobody' }];
  const report = drawReport({ rows, absences, starts, budgets: budget === undefined ? [] : [budget] });
  expect(report).toContain('| 32x1MB | other | failed: ended / with 1 and more |');
  expect(report).toContain('- third: in no cell, because it serves nobody');
  const tables = report.split('\n').filter((line) => line.startsWith('| ') && line.includes(' | floor |'));
  for (const line of tables) expect(line.split(' | ')).toHaveLength(12);
  for (const line of report.split('\n').filter((each) => each.includes('failed: ended')))
    expect(line.split(' | ')).toHaveLength(12);
});
