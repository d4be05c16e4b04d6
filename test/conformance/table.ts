// The results of several runs side by side, as a table for people. Judges nothing.
import { failing, passed } from './baseline.ts';
import type { Scenario, Side } from './suite.ts';

/** One run, small enough to travel with its test to the reporter. */
export interface Column {
  readonly side: Side;
  readonly run: string;
  /** Scenario: checks passed and failed, warnings among these. */
  readonly counts: Readonly<Record<string, readonly [number, number]>>;
}

export function columnOf(side: Side, run: string, scenarios: readonly Scenario[]): Column {
  return { side, run, counts: Object.fromEntries(scenarios.map((one) => [one.name, [passed(one), failing(one).length]])) };
}

const width = 9;
const cell = (text: string): string => text.padStart(width);

/** Rows are scenarios, columns are runs by number; `3/1` is three checks passed and one failed. */
export function drawTable(title: string, columns: readonly Column[]): string {
  const names = [...new Set(columns.flatMap(({ counts }) => Object.keys(counts)))].sort();
  const margin = Math.max(...names.map((name) => name.length)) + 2;
  const row = (name: string, cells: readonly string[]): string => `  ${name.padEnd(margin)}${cells.map(cell).join('')}`;
  const total = ({ counts }: Column): string => {
    const all = Object.values(counts);
    return [0, 1].map((at) => all.reduce((sum, one) => sum + (one[at] ?? 0), 0)).join('/');
  };
  return [
    `${title}: checks passed/failed`,
    ...columns.map(({ run }, at) => `  ${at + 1}  ${run}`),
    row(
      '',
      columns.map((_, at) => String(at + 1)),
    ),
    ...names.map((name) =>
      row(
        name,
        columns.map(({ counts }) => counts[name]?.join('/') ?? '·'),
      ),
    ),
    row('total', columns.map(total)),
  ].join('\n');
}
