// Where a run goes: JSON, Markdown and charts below bench/out/full/ or bench/out/partial/, and into the README when it is to be quoted.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Budget } from './budgets.ts';
import { chartsOf, quotedCharts } from './charts.ts';
import { programOf } from './children.ts';
import { figuresBlock, replaceFigures } from './readme.ts';
import { drawReport, type Absence } from './report.ts';
import type { Start } from './starts.ts';
import type { Row } from './summary.ts';

/** What a run found out, as bench/out/results.json holds it. */
export interface Results {
  readonly at: string;
  readonly system: {
    readonly version: string;
    readonly node: string;
    readonly platform: string;
    readonly cores: number;
    readonly peers: Readonly<Record<string, string>>;
  };
  /** Everything at full length: may be quoted. */
  readonly full: boolean;
  readonly rounds: number;
  readonly laps: number;
  readonly voided: number;
  readonly minutes: number;
  readonly rows: readonly Row[];
  readonly absences: readonly Absence[];
  readonly starts: readonly Start[];
  readonly budgets: readonly Budget[];
}

/** Full runs and others do not overwrite each other. */
function folderFor(full: boolean): string {
  return programOf(full ? 'out/full/' : 'out/partial/');
}

function headingOf({ at, system, rounds, laps, voided, minutes }: Results): string {
  const peers = Object.entries(system.peers).map(([name, version]) => `${name} ${version}`);
  const beside = peers.length === 0 ? '' : ` Peers: ${peers.join(', ')}.`;
  return (
    `Version ${system.version}, Node ${system.node}, ${system.platform}, ${system.cores} cores, ${at.slice(0, 10)}; ` +
    `rounds: ${rounds}, laps: ${laps}, void: ${voided}, minutes: ${minutes.toFixed(1)}.${beside} Quote ratios, not milliseconds.`
  );
}

export function markdownOf(results: Results): string {
  return `${headingOf(results)}\n\n${drawReport(results)}`;
}

export function save(results: Results): void {
  const folder = folderFor(results.full);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}results.json`, `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(`${folder}results.md`, markdownOf(results));
  for (const { name, svg } of chartsOf(results.rows)) writeFileSync(`${folder}${name}`, svg);
}

/** The last full run of this clone. */
export function lastResults(): Results {
  try {
    return JSON.parse(readFileSync(`${folderFor(true)}results.json`, 'utf8')) as Results;
  } catch (error) {
    throw new Error('there is no full run in bench/out/full/ to draw; run the benchmark without --quick first', { cause: error });
  }
}

export function quote(results: Results): void {
  if (!results.full) throw new Error('that was no full run, so it is not quoted in the README');
  const charts = quotedCharts(chartsOf(results.rows));
  const readme = programOf('README.md');
  const block = figuresBlock(headingOf(results), drawReport(results), charts);
  const text = replaceFigures(readFileSync(readme, 'utf8'), block);
  mkdirSync(programOf('charts/'), { recursive: true });
  for (const { name, svg } of charts) writeFileSync(programOf(`charts/${name}`), svg);
  writeFileSync(readme, text);
}
