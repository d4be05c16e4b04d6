// The grid: sessions × payload, and how many calls each cell makes at most. `Work.limitMs` ends a cell of a slow arm earlier.

import type { Route } from './arm.ts';

export interface Cell {
  /** `32x100B`, as in `--cells`. */
  readonly name: string;
  /** MCP sessions, each with one call in flight; 1 is the sequential case. */
  readonly sessions: number;
  /** Bytes of result text. */
  readonly size: number;
  /** Calls before measuring, the first time an arm meets this payload in a round. */
  readonly warmUp: number;
  readonly calls: number;
}

export interface Payload {
  readonly name: string;
  readonly cells: readonly Cell[];
}

const sessionCounts: Readonly<Record<Route, readonly number[]>> = { stdio: [1, 8, 32], http: [1, 8, 32], bridge: [1] };
const payloads = [
  { name: '100B', size: 100, warmUp: 2000, sequential: 4000, concurrent: 16_000 },
  { name: '20KB', size: 20_000, warmUp: 2000, sequential: 2000, concurrent: 8000 },
  { name: '1MB', size: 1_000_000, warmUp: 64, sequential: 100, concurrent: 400 },
];

/**
 * The cells of a route by payload, smallest first. `share` scales warm-up and calls (`--quick`); `wanted` keeps only those names.
 * Throws on a name that no route has.
 */
export function grid(route: Route, share: number, wanted: readonly string[]): Payload[] {
  const names = payloads.flatMap(({ name }) => sessionCounts.stdio.map((sessions) => `${sessions}x${name}`));
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`no such cell: ${unknown.join(', ')}; there are ${names.join(', ')}`);
  return payloads
    .map(({ name, size, warmUp, sequential, concurrent }) => ({
      name,
      cells: sessionCounts[route]
        .map((sessions) => ({
          name: `${sessions}x${name}`,
          sessions,
          size,
          warmUp: Math.ceil(warmUp * share),
          calls: Math.max(sessions, Math.ceil((sessions === 1 ? sequential : concurrent) * share)),
        }))
        .filter((cell) => wanted.length === 0 || wanted.includes(cell.name)),
    }))
    .filter(({ cells }) => cells.length > 0);
}
