// Which charts a run yields: p50 and CPU per call, by payload, for each route and number of sessions.
import type { Route } from './arm.ts';
import { drawChart, type Series } from './chart.ts';
import { routeTitles } from './report.ts';
import type { Row } from './summary.ts';

export interface ChartFile {
  /** `stdio-32-p50.svg` */
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

const colours: Readonly<Record<string, string>> = {
  direct: '#9aa3ad',
  floor: '#6a7480',
  'sallyport read': '#2f7fd8',
  'sallyport write': '#6aa5e3',
  'mcp-proxy': '#c58a2c',
  'mcp-hub': '#a9674a',
  supergateway: '#8c6fb0',
};

const figures = [
  { key: 'p50Ms', name: 'p50', title: 'median latency', unit: 'ms' },
  { key: 'cpuUs', name: 'cpu', title: 'CPU per call', unit: 'µs' },
] as const;
const routes: readonly Route[] = ['stdio', 'http', 'bridge'];
const sessionCounts = ['1', '8', '32'];

/** Charts in a fixed order; none for a route and number of sessions without rows. */
export function chartsOf(rows: readonly Row[]): ChartFile[] {
  return routes.flatMap((route) =>
    sessionCounts.flatMap((sessions) => {
      const mine = rows.filter((row) => row.route === route && row.cell.startsWith(`${sessions}x`));
      if (mine.length === 0) return [];
      const cells = [...new Set(mine.map(({ cell }) => cell))];
      const subjects = [...new Set(mine.map(({ subject }) => subject))];
      return figures.map(({ key, name, title, unit }): ChartFile => {
        const series = subjects.map((subject): Series => ({
          name: subject,
          colour: colours[subject] ?? '#737b85',
          values: cells.map((cell) => mine.find((row) => row.cell === cell && row.subject === subject)?.figures[key]),
        }));
        const inFlight = sessions === '1' ? 'one call at a time' : `${sessions} calls in flight`;
        const groups = cells.map((cell) => cell.slice(sessions.length + 1));
        const heading = `${routeTitles[route]}, ${inFlight}: ${title}`;
        return {
          name: `${route}-${sessions}-${name}.svg`,
          title: heading,
          svg: drawChart({ title: heading, unit, groups, series }),
        };
      });
    }),
  );
}

/** Those the README shows: under the load that the budgets are about. */
export function quotedCharts(charts: readonly ChartFile[]): ChartFile[] {
  return charts.filter(({ name }) => /^(?:stdio|http)-32-/.test(name));
}
