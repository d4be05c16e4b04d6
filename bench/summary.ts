// From counted laps to one row per route, cell and subject: medians, and ratios taken lap by lap before the median.
import type { Route } from './arm.ts';
import type { Lap } from './lap.ts';
import type { Figures } from './load.ts';
import { median } from './statistics.ts';

type Figure = Exclude<keyof Figures, 'disturbance'>;

export interface Row {
  readonly route: Route;
  readonly cell: string;
  readonly subject: string;
  /** Counted laps behind this row; 0 when it only says why there are no figures. */
  readonly laps: number;
  readonly figures: Readonly<Partial<Record<Figure, number>>>;
  /** Lowest and highest p50 of those laps, milliseconds. */
  readonly p50RangeMs?: readonly [number, number];
  readonly toFloor: Comparison;
  readonly toDirect: Comparison;
  /** By subject that is not ours. */
  readonly toPeers: Readonly<Record<string, Comparison>>;
  /** Why it was not measured, or not in every lap. */
  readonly failed?: string;
}

/** Ratios, and the difference in p50; absent where the other subject was not measured. */
export interface Comparison {
  readonly p50?: number;
  readonly cpu?: number;
  readonly rss?: number;
  readonly addedMs?: number;
}

const figureNames: readonly Figure[] = ['p50Ms', 'p95Ms', 'p99Ms', 'perSecond', 'cpuUs', 'rssMb', 'children'];

function present(values: readonly (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined);
}

function ratio(mine: number | undefined, theirs: number | undefined): number | undefined {
  return mine === undefined || theirs === undefined || theirs === 0 ? undefined : mine / theirs;
}

function compare(laps: readonly Lap[], subject: string, other: string): Comparison {
  const over = (read: (mine: Figures, theirs: Figures) => number | undefined): number | undefined =>
    median(
      present(
        laps.map(({ figures }) => {
          const mine = figures[subject];
          const theirs = figures[other];
          return mine === undefined || theirs === undefined ? undefined : read(mine, theirs);
        }),
      ),
    );
  const values = {
    p50: over((mine, theirs) => ratio(mine.p50Ms, theirs.p50Ms)),
    cpu: over((mine, theirs) => ratio(mine.cpuUs, theirs.cpuUs)),
    rss: over((mine, theirs) => ratio(mine.rssMb, theirs.rssMb)),
    addedMs: over((mine, theirs) => mine.p50Ms - theirs.p50Ms),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function rowOf(laps: readonly Lap[], route: Route, cell: string, subject: string, peers: readonly string[]): Row {
  const mine = laps.filter(({ figures }) => figures[subject] !== undefined);
  const values = (name: Figure): number[] => present(mine.map(({ figures }) => figures[subject]?.[name]));
  const p50 = values('p50Ms');
  const failed = laps.map(({ failures }) => failures[subject]).find((reason) => reason !== undefined);
  return {
    route,
    cell,
    subject,
    laps: mine.length,
    figures: Object.fromEntries(figureNames.map((name) => [name, median(values(name))]).filter(([, value]) => value !== undefined)),
    ...(p50.length === 0 ? {} : { p50RangeMs: [Math.min(...p50), Math.max(...p50)] }),
    toFloor: compare(mine, subject, 'floor'),
    toDirect: compare(mine, subject, 'direct'),
    toPeers: Object.fromEntries(
      peers
        .filter((peer) => peer !== subject && mine.some(({ figures }) => figures[peer] !== undefined))
        .map((peer) => [peer, compare(mine, subject, peer)]),
    ),
    ...(failed === undefined ? {} : { failed }),
  };
}

/** Rows of a cell come in the order of `subjects`; `peers` are those among them that are not ours. */
export function summarise(laps: readonly Lap[], subjects: readonly string[], peers: readonly string[]): Row[] {
  const counted = laps.filter((lap) => lap.counted);
  const keys = [...new Map(counted.map((lap) => [`${lap.route} ${lap.cell}`, lap])).values()];
  return keys.flatMap(({ route, cell }) => {
    const mine = counted.filter((lap) => lap.route === route && lap.cell === cell);
    return subjects
      .filter((subject) => mine.some(({ figures, failures }) => subject in figures || subject in failures))
      .map((subject) => rowOf(mine, route, cell, subject, peers));
  });
}
