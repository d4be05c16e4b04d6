// `npm run bench`: what the gateway costs beside a direct call, the floor and other gateways, measured in one interleaved run.
// Method and figures: bench/README.md. Bounded in calls and time, loopback only, leaves no process behind.
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Arm, Route } from './arm.ts';
import { judgeBudgets } from './budgets.ts';
import { grid, type Payload } from './cells.ts';
import { programOf, stopAll } from './children.ts';
import type { Lap } from './lap.ts';
import { readOptions, usage, type Options } from './options.ts';
import { lastResults, markdownOf, quote, save, type Results } from './output.ts';
import { installPeers, pinnedPeers } from './peers.ts';
import type { Absence } from './report.ts';
import { chooseArms, subjects } from './roster.ts';
import { runPayload, type Session } from './round.ts';
import { measureStarts } from './starts.ts';
import { summarise } from './summary.ts';

/** What shares its processes: one size of payload, or all of them in a quick run. */
function payloadsOf(route: Route, { share, cells, fresh }: Options): Payload[] {
  const payloads = grid(route, share, cells);
  if (fresh || payloads.length < 2) return payloads;
  return [{ name: payloads.map(({ name }) => name).join(', '), cells: payloads.flatMap((payload) => payload.cells) }];
}

async function runAll(options: Options, arms: readonly Arm[], started: number): Promise<Lap[]> {
  const inTime = (): boolean => performance.now() - started < options.limitMs;
  const givenUp: Session['givenUp'] = new Map();
  const laps: Lap[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const lapOptions = { turn: round, tolerance: options.tolerance, limitMs: options.cellMs };
    for (const route of options.routes) {
      const able = arms.filter(({ cannot }) => cannot?.[route] === undefined);
      for (const payload of payloadsOf(route, options)) {
        if (!inTime()) break;
        console.error(`round ${round + 1} of ${options.rounds}, ${route}, ${payload.name}`);
        laps.push(...(await runPayload(able, route, payload, { options: lapOptions, inTime, givenUp })));
      }
    }
  }
  if (!inTime()) console.error('the time limit was reached; the last laps are missing');
  return laps;
}

/** The peers that are to be measured and can be started at all, beside our own arms; loud about those that cannot. */
function preparePeers(chosen: readonly Arm[], options: Options): { arms: readonly Arm[]; absences: Absence[] } {
  const missing = chosen.some(({ peer }) => peer) ? installPeers() : undefined;
  if (missing !== undefined) console.error(`\nNO PEERS IN THIS RUN: ${missing}\n`);
  const absences = chosen.flatMap(({ name, peer, cannot }) =>
    options.routes.flatMap((route): Absence[] => {
      const reason = cannot?.[route] ?? (peer ? missing : undefined);
      return reason === undefined ? [] : [{ route, subject: name, reason }];
    }),
  );
  return { arms: chosen.filter(({ peer }) => !peer || missing === undefined), absences };
}

function systemOf(arms: readonly Arm[]): Results['system'] {
  const { version } = JSON.parse(readFileSync(programOf('../package.json'), 'utf8')) as { version: string };
  const peers = Object.entries(pinnedPeers()).filter(([name]) => arms.some((arm) => arm.peer && arm.name === name));
  const platform = `${process.platform} ${process.arch}`;
  return { version, node: process.version.slice(1), platform, cores: cpus().length, peers: Object.fromEntries(peers) };
}

async function measure(options: Options): Promise<Results> {
  const started = performance.now();
  const chosen = chooseArms(options.arms, options.peers);
  const { arms, absences } = preparePeers(chosen, options);
  const partial = options.arms.length > 0 || options.cells.length > 0;
  const starts = partial ? [] : await measureStarts(arms, options.starts);
  const laps = await runAll(options, arms, started);
  const peers = chosen.filter(({ peer }) => peer);
  const rows = summarise(
    laps,
    subjects,
    peers.map(({ name }) => name),
  );
  const judged = judgeBudgets(rows, starts, Object.fromEntries(peers.map(({ name, cannot }) => [name, cannot ?? {}])));
  return {
    at: new Date().toISOString(),
    system: systemOf(arms),
    full: options.full,
    rounds: options.rounds,
    laps: laps.length,
    voided: laps.filter(({ counted }) => !counted).length,
    minutes: (performance.now() - started) / 60_000,
    rows,
    absences,
    starts,
    budgets: judged.filter(({ verdict }) => options.full || verdict !== 'not measured'),
  };
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) return console.log(usage);
  const results = options.redraw ? lastResults() : await measure(options);
  save(results);
  console.log(options.json ? JSON.stringify(results) : markdownOf(results));
  if (results.rows.length === 0 && results.voided > 0)
    throw new Error('every lap was disturbed by other load; try again on a quieter machine');
  if (results.rows.length === 0) throw new Error('none of these arms can take any of these routes, so nothing was measured');
  if (options.writeReadme) quote(results);
  const failed = results.budgets.filter(({ verdict }) => verdict !== 'within').length;
  if (options.gate && results.full && failed > 0)
    throw new Error(`${failed} of ${results.budgets.length} budgets are not held; --no-gate looks without failing`);
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
