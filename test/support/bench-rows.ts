// Laps and figures as the load client would bring them, for tests of what the benchmark makes of them.
import type { Route } from '../../bench/arm.ts';
import type { Lap } from '../../bench/lap.ts';
import type { Figures } from '../../bench/load.ts';

export function figures(p50Ms: number, cpuUs: number, rssMb = 100): Figures {
  return { p50Ms, p95Ms: p50Ms, p99Ms: p50Ms, perSecond: 1000 / p50Ms, cpuUs, rssMb, children: 1, disturbance: 0 };
}

export function lapOf(
  route: Route,
  cell: string,
  measured: Readonly<Record<string, Figures>>,
  failures: Lap['failures'] = {},
): Lap {
  return { route, cell, figures: measured, failures, disturbance: 0, counted: true };
}
