// From counted laps to one row per cell and subject: medians, and ratios taken lap by lap before the median.
import type { Figures } from './load.ts';
import type { Lap } from './lap.ts';
import { median } from './statistics.ts';

type Figure = Exclude<keyof Figures, 'disturbance'>;

export interface Row {
  readonly cell: string;
  readonly subject: string;
  /** Counted laps behind this row. */
  readonly laps: number;
  readonly figures: Readonly<Partial<Record<Figure, number>>>;
  /** Lowest and highest p50 of those laps, milliseconds. */
  readonly p50RangeMs: readonly [number, number];
  readonly toFloor: Comparison;
  readonly toDirect: Comparison;
}

/** Ratios, and the difference in p50; absent where the other subject was not measured. */
export interface Comparison {
  readonly p50?: number;
  readonly cpu?: number;
  readonly perSecond?: number;
  readonly addedMs?: number;
}

const figureNames: readonly Figure[] = ['p50Ms', 'p95Ms', 'p99Ms', 'perSecond', 'cpuUs', 'rssMb', 'children'];

function present(values: readonly (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined);
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
    p50: over((mine, theirs) => mine.p50Ms / theirs.p50Ms),
    cpu: over((mine, theirs) => (mine.cpuUs === undefined || !theirs.cpuUs ? undefined : mine.cpuUs / theirs.cpuUs)),
    perSecond: over((mine, theirs) => mine.perSecond / theirs.perSecond),
    addedMs: over((mine, theirs) => mine.p50Ms - theirs.p50Ms),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

export function summarise(laps: readonly Lap[]): Row[] {
  const counted = laps.filter((lap) => lap.counted);
  const cells = [...new Set(counted.map((lap) => lap.cell))];
  return cells.flatMap((cell) => {
    const mine = counted.filter((lap) => lap.cell === cell);
    return Object.keys(mine[0]?.figures ?? {})
      .sort()
      .map((subject): Row => {
        const values = (name: Figure): number[] => present(mine.map(({ figures }) => figures[subject]?.[name]));
        const p50 = values('p50Ms');
        return {
          cell,
          subject,
          laps: mine.length,
          figures: Object.fromEntries(
            figureNames.map((name) => [name, median(values(name))]).filter(([, value]) => value !== undefined),
          ),
          p50RangeMs: [Math.min(...p50), Math.max(...p50)],
          toFloor: compare(mine, subject, 'floor'),
          toDirect: compare(mine, subject, 'direct'),
        };
      });
  });
}
