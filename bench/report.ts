// Draws the rows as Markdown: sequential cells apart from the ones under load, then the budgets of the design.
import type { Row } from './summary.ts';

const missing = '–';

function number(value: number | undefined, digits: number): string {
  return value === undefined ? missing : value.toFixed(digits);
}

function ms(value: number | undefined): string {
  return number(value, value !== undefined && value >= 10 ? 1 : 2);
}

function line({ cell, subject, figures, toFloor, toDirect, laps, p50RangeMs }: Row): string {
  const cells = [
    cell,
    subject,
    `${ms(figures.p50Ms)} (${ms(p50RangeMs[0])}–${ms(p50RangeMs[1])})`,
    ms(figures.p95Ms),
    ms(figures.p99Ms),
    number(figures.perSecond, 0),
    number(figures.cpuUs, 0),
    number(figures.rssMb, 0),
    number(figures.children, 0),
    `${number(toFloor.p50, 2)} / ${number(toFloor.cpu, 2)}`,
    number(toDirect.p50, 2),
    String(laps),
  ];
  return `| ${cells.join(' | ')} |`;
}

function table(title: string, rows: readonly Row[]): string {
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
  return [`### ${title}`, '', `| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows.map(line), ''].join('\n');
}

/** One sentence for each budget: reads at 32 in flight at most 1.2 × the floor, writes at most 1 ms over it. */
function budgets(rows: readonly Row[]): string {
  const at = (cell: string, subject: string): Row | undefined => rows.find((row) => row.cell === cell && row.subject === subject);
  const verdict = (within: boolean): string => (within ? 'within' : '**over**');
  const lines: string[] = [];
  for (const cell of ['32x100B', '32x20KB', '32x1MB']) {
    const { p50, cpu } = at(cell, 'sallyport read')?.toFloor ?? {};
    if (p50 !== undefined) lines.push(`- ${cell} read: p50 ${p50.toFixed(2)} × floor, ${verdict(p50 <= 1.2)} 1.2`);
    if (cpu !== undefined) lines.push(`- ${cell} read: CPU ${cpu.toFixed(2)} × floor, ${verdict(cpu <= 1.2)} 1.2`);
  }
  for (const cell of ['1x100B', '32x100B']) {
    const { addedMs } = at(cell, 'sallyport write')?.toFloor ?? {};
    if (addedMs !== undefined)
      lines.push(`- ${cell} write: ${addedMs.toFixed(2)} ms over the floor, ${verdict(addedMs <= 1)} 1 ms`);
  }
  return lines.length === 0 ? '' : ['### Budgets', '', ...lines, ''].join('\n');
}

export function drawReport(rows: readonly Row[]): string {
  const sequential = rows.filter((row) => row.cell.startsWith('1x'));
  const loaded = rows.filter((row) => !row.cell.startsWith('1x'));
  const parts = [
    loaded.length > 0 ? table('Under load: one call in flight in each session', loaded) : '',
    sequential.length > 0 ? table('Sequential: one session, one call at a time', sequential) : '',
    budgets(rows),
  ];
  return parts.filter((part) => part !== '').join('\n');
}
