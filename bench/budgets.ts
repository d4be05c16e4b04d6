// The budgets of the design, judged from the rows of a run. Knows what is promised, not how it is drawn or measured.
import type { Route } from './arm.ts';
import type { Start } from './starts.ts';
import type { Row } from './summary.ts';

export type Verdict = 'within' | 'over' | 'not measured';

export interface Budget {
  readonly text: string;
  readonly verdict: Verdict;
}

/** Ratios to the floor of the same lap. */
export const limits = { read: 1.5, readGoal: 1.2, rss: 1.6, writeMs: 1, readyMs: 500 };

const routes = [
  { route: 'stdio', title: 'HTTP to stdio' },
  { route: 'http', title: 'HTTP to HTTP' },
] as const satisfies readonly { route: Route; title: string }[];
const payloads = ['100B', '20KB', '1MB'];
const ours = 'sallyport read';

type Find = (route: Route, cell: string, subject: string) => Row | undefined;

function judge(value: number | undefined, limit: number): Verdict {
  if (value === undefined) return 'not measured';
  return value <= limit ? 'within' : 'over';
}

function reads(find: Find): Budget[] {
  return routes.flatMap(({ route, title }) =>
    payloads.flatMap((payload) => {
      const { p50, cpu } = find(route, `32x${payload}`, ours)?.toFloor ?? {};
      return (
        [
          ['p50', p50],
          ['CPU', cpu],
        ] as const
      ).map(([figure, value]) => ({
        text:
          `${title}, 32x${payload} read: ${figure} ${value?.toFixed(2) ?? '–'} × floor, at most ${limits.read}` +
          ` (goal ${limits.readGoal}: ${judge(value, limits.readGoal)})`,
        verdict: judge(value, limits.read),
      }));
    }),
  );
}

function writes(find: Find): Budget[] {
  return routes.flatMap(({ route, title }) =>
    ['1x100B', '8x100B', '32x100B'].map((cell) => {
      const addedMs = find(route, cell, 'sallyport write')?.toFloor.addedMs;
      return {
        text: `${title}, ${cell} write: ${addedMs?.toFixed(2) ?? '–'} ms over the floor, at most ${limits.writeMs} ms`,
        verdict: judge(addedMs, limits.writeMs),
      };
    }),
  );
}

function memory(rows: readonly Row[]): Budget[] {
  return routes.map(({ route, title }) => {
    const worst = rows
      .filter((row) => row.route === route && row.subject === ours && row.toFloor.rss !== undefined)
      .toSorted((a, b) => (b.toFloor.rss ?? 0) - (a.toFloor.rss ?? 0))[0];
    const rss = worst?.toFloor.rss;
    return {
      text: `${title}: RSS ${rss?.toFixed(2) ?? '–'} × floor at worst (${worst?.cell ?? '–'}), at most ${limits.rss}`,
      verdict: judge(rss, limits.rss),
    };
  });
}

/** One line for each peer and route it can take: in which cells of this run it is cheaper than we are. */
function againstPeer(rows: readonly Row[], route: Route, title: string, peer: string): Budget {
  const mine = rows.filter((row) => row.route === route && row.subject === ours && row.toPeers[peer] !== undefined);
  const failed = rows.filter((row) => row.route === route && row.subject === peer && row.laps === 0).length;
  const over = mine.flatMap(({ cell, toPeers }) =>
    (
      [
        ['p50', toPeers[peer]?.p50],
        ['CPU', toPeers[peer]?.cpu],
      ] as const
    )
      .filter(([, value]) => value === undefined || value >= 1)
      .map(([figure, value]) => ({ measured: value !== undefined, text: `${cell} ${figure} ${value?.toFixed(2) ?? '–'} ×` })),
  );
  const text = `${title}: p50 and CPU less than ${peer} in every cell (${mine.length} compared, ${failed} it failed)`;
  if (mine.length === 0 || over.some(({ measured }) => !measured)) return { text, verdict: 'not measured' };
  if (over.length === 0) return { text, verdict: 'within' };
  return { text: `${text}; not in ${over.map((each) => each.text).join(', ')}`, verdict: 'over' };
}

function readiness(starts: readonly Start[]): Budget {
  const readyMs = starts.find(({ name }) => name === 'sallyport')?.readyMs;
  return {
    text: `ready without upstreams after ${readyMs?.toFixed(0) ?? '–'} ms, at most ${limits.readyMs} ms`,
    verdict: judge(readyMs, limits.readyMs),
  };
}

/** What each peer that was asked for cannot do at all, by name. */
export type Peers = Readonly<Record<string, Readonly<Partial<Record<Route, string>>>>>;

/**
 * Every budget, in a fixed order. One without figures is `not measured`, which a full run counts as failed: a gate that passes because
 * nothing was measured is none. A peer that failed a cell is not compared there.
 */
export function judgeBudgets(rows: readonly Row[], starts: readonly Start[], peers: Peers): Budget[] {
  const find: Find = (route, cell, subject) =>
    rows.find((row) => row.route === route && row.cell === cell && row.subject === subject);
  const beside = routes.flatMap(({ route, title }) =>
    Object.entries(peers)
      .filter(([, cannot]) => cannot[route] === undefined)
      .map(([peer]) => againstPeer(rows, route, title, peer)),
  );
  return [...reads(find), ...beside, ...memory(rows), ...writes(find), readiness(starts)];
}
