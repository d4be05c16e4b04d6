// Draws a run as Markdown: per route the cells under load, the sequential ones, what could not be measured; then starts and budgets.
import type { Route } from './arm.ts';
import type { Budget } from './budgets.ts';
import type { Start } from './starts.ts';
import type { Row } from './summary.ts';

const missing = '–';

export const routeTitles: Readonly<Record<Route, string>> = {
  stdio: 'HTTP to stdio',
  http: 'HTTP to HTTP',
  bridge: 'stdio to stdio, through the bridge',
};

const head = [
  'cell',
  'arm',
  'p50 ms (range)',
  'p95',
  'p99',
  'req/s',
  'CPU µs/call',
  'RSS MB',
  'children',
  '× floor p50 / CPU',
  '× direct p50',
  'laps',
];

function number(value: number | undefined, digits: number): string {
  return value === undefined ? missing : value.toFixed(digits);
}

function ms(value: number | undefined): string {
  return number(value, value !== undefined && value >= 10 ? 1 : 2);
}

/** Text of others inside a table cell: one line, bounded, no cell borders of its own. */
function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '/').replaceAll('`', "'").replaceAll('<', '‹').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

function line({ cell, subject, figures, toFloor, toDirect, laps, p50RangeMs, failed }: Row): string {
  const fields =
    p50RangeMs === undefined
      ? [`failed: ${quoted(failed ?? 'no figures')}`, ...Array.from({ length: 8 }, () => missing)]
      : [
          `${ms(figures.p50Ms)} (${ms(p50RangeMs[0])}–${ms(p50RangeMs[1])})`,
          ms(figures.p95Ms),
          ms(figures.p99Ms),
          number(figures.perSecond, 0),
          number(figures.cpuUs, 0),
          number(figures.rssMb, 0),
          number(figures.children, 0),
          `${number(toFloor.p50, 2)} / ${number(toFloor.cpu, 2)}`,
          number(toDirect.p50, 2),
        ];
  return `| ${[cell, subject, ...fields, String(laps)].join(' | ')} |`;
}

function table(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  return [`#### ${title}`, '', `| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows.map(line), ''];
}

/** An arm that is in no cell of a route, or of none. */
export interface Absence {
  readonly route: Route;
  readonly subject: string;
  readonly reason: string;
}

function routePart(route: Route, rows: readonly Row[], absences: readonly Absence[]): string[] {
  const mine = rows.filter((row) => row.route === route);
  if (mine.length === 0) return [];
  const partly = mine.filter(({ laps, failed }) => laps > 0 && failed !== undefined);
  const notes = [
    ...absences
      .filter((absence) => absence.route === route)
      .map(({ subject, reason }) => `- ${subject}: in no cell, because ${quoted(reason)}`),
    ...partly.map(({ cell, subject, failed }) => `- ${subject} failed ${cell} in a later round: ${quoted(failed ?? '')}`),
  ];
  return [
    `### ${routeTitles[route]}`,
    '',
    ...table(
      'Under load: one call in flight in each session',
      mine.filter(({ cell }) => !cell.startsWith('1x')),
    ),
    ...table(
      'Sequential: one session, one call at a time',
      mine.filter(({ cell }) => cell.startsWith('1x')),
    ),
    ...(notes.length === 0 ? [] : [...notes, '']),
  ];
}

function startsPart(starts: readonly Start[]): string[] {
  if (starts.length === 0) return [];
  return [
    '### From spawn to ready',
    '',
    '| arm | ready ms | starts |',
    '| --- | --- | --- |',
    ...starts.map(
      ({ name, readyMs, times, failed }) =>
        `| ${name} | ${failed === undefined ? number(readyMs, 0) : `failed: ${quoted(failed)}`} | ${times} |`,
    ),
    '',
  ];
}

function budgetsPart(budgets: readonly Budget[]): string[] {
  if (budgets.length === 0) return [];
  const lines = budgets.map(({ text, verdict }) => `- ${text}: ${verdict === 'within' ? verdict : `**${verdict}**`}`);
  return ['### Budgets', '', ...lines, ''];
}

export interface Drawn {
  readonly rows: readonly Row[];
  readonly absences: readonly Absence[];
  readonly starts: readonly Start[];
  readonly budgets: readonly Budget[];
}

export function drawReport({ rows, absences, starts, budgets }: Drawn): string {
  const routes: readonly Route[] = ['stdio', 'http', 'bridge'];
  const parts = routes.flatMap((route) => routePart(route, rows, absences));
  return [...parts, ...startsPart(starts), ...budgetsPart(budgets)].join('\n');
}
