// `npm run bench`: what the gateway costs beside a direct call and beside the floor, measured in one interleaved run.
// Method and figures: bench/README.md. Bounded in calls and time, loopback only, leaves no process behind.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { direct } from './arms/direct.ts';
import { floor } from './arms/floor.ts';
import { sallyport } from './arms/sallyport.ts';
import type { Arm } from './arm.ts';
import { grid, type Payload } from './cells.ts';
import { stopAll } from './children.ts';
import { closeRunner, openRunner, runLap, type Lap, type Runner } from './lap.ts';
import { readOptions, usage, type Options } from './options.ts';
import { drawReport } from './report.ts';
import { summarise } from './summary.ts';

const everyArm: readonly Arm[] = [direct, floor, sallyport];
/** A disturbed lap is repeated at once, this often; then its round goes without. */
const repeats = 2;

function chosenArms(names: readonly string[]): readonly Arm[] {
  const unknown = names.filter((name) => !everyArm.some((arm) => arm.name === name));
  if (unknown.length > 0)
    throw new Error(`no such arm: ${unknown.join(', ')}; there are ${everyArm.map(({ name }) => name).join(', ')}`);
  return everyArm.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Fresh processes for every arm, then all cells of one payload. */
async function runPayload(
  arms: readonly Arm[],
  payload: Payload,
  turn: number,
  tolerance: number,
  inTime: () => boolean,
): Promise<Lap[]> {
  const runners: Runner[] = [];
  const laps: Lap[] = [];
  try {
    for (const arm of arms) runners.push(await openRunner(arm));
    for (const cell of payload.cells) {
      for (let attempt = 0; attempt <= repeats && inTime(); attempt += 1) {
        const lap = await runLap(runners, cell, turn, tolerance);
        laps.push(lap);
        if (lap.counted) break;
        console.error(`  ${cell.name} disturbed: ${(lap.disturbance * 100).toFixed(0)} % of the machine went elsewhere`);
      }
    }
  } finally {
    await Promise.all(runners.map(closeRunner));
  }
  return laps;
}

async function runAll(options: Options): Promise<Lap[]> {
  const arms = chosenArms(options.arms);
  const payloads = grid(options.share, options.cells);
  const started = performance.now();
  const inTime = (): boolean => performance.now() - started < options.limitMs;
  const laps: Lap[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    for (const payload of payloads) {
      if (!inTime()) break;
      console.error(`round ${round + 1} of ${options.rounds}, ${payload.name}`);
      laps.push(...(await runPayload(arms, payload, round, options.tolerance, inTime)));
    }
  }
  if (!inTime()) console.error('the time limit was reached; the last rounds are missing');
  return laps;
}

function save(result: object, markdown: string): void {
  const folder = fileURLToPath(new URL('out/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}results.json`, `${JSON.stringify(result, undefined, 2)}\n`);
  writeFileSync(`${folder}results.md`, markdown);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) return console.log(usage);
  const laps = await runAll(options);
  const rows = summarise(laps);
  const system = { node: process.version, platform: `${process.platform} ${process.arch}`, cores: cpus().length };
  const voided = laps.filter(({ counted }) => !counted).length;
  const result = { at: new Date().toISOString(), system, laps: laps.length, voided, rows };
  const markdown = `Node ${system.node}, ${system.platform}, ${system.cores} cores; ${laps.length} laps, ${voided} void.\n\n${drawReport(rows)}`;
  save(result, markdown);
  console.log(options.json ? JSON.stringify(result) : markdown);
  if (rows.length === 0) throw new Error('every lap was disturbed by other load; try again on a quieter machine');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopAll().finally(() => process.exit(130)));
}
try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await stopAll();
}
