// One payload of one route with fresh processes for every arm. A peer that fails is started anew for the next cell and gives up the one
// it failed for good; knows nothing of rows and ratios.
import type { Arm, Route } from './arm.ts';
import type { Cell, Payload } from './cells.ts';
import { closeRunner, openRunner, runLap, type Lap, type LapOptions, type Runner } from './lap.ts';

/** A disturbed lap is repeated at once, this often; then its round goes without. */
const repeats = 2;

export interface Session {
  readonly options: LapOptions;
  readonly inTime: () => boolean;
  /** `route cell arm` of the peers' cells that failed once, with the reason; grows over the whole run. */
  readonly givenUp: Map<string, string>;
}

function keyOf(route: Route, cell: Cell, arm: Arm): string {
  return `${route} ${cell.name} ${arm.name}`;
}

function complaintOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** All at once, since each mostly waits for the other's disk and key derivation. Rejects when one of our own does not start. */
async function openAll(arms: readonly Arm[], route: Route): Promise<{ runners: Runner[]; dead: Map<Arm, string> }> {
  const opened = await Promise.allSettled(arms.map((arm) => openRunner(arm, route)));
  const runners = opened.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
  const dead = new Map<Arm, string>();
  for (const [at, result] of opened.entries()) {
    const arm = arms[at];
    if (arm !== undefined && result.status === 'rejected') dead.set(arm, complaintOf(result.reason));
  }
  const ours = [...dead].find(([arm]) => arm.peer === undefined);
  if (ours !== undefined) {
    await Promise.all(runners.map(closeRunner));
    throw new Error(`${ours[0].name} did not start: ${ours[1]}`);
  }
  return { runners, dead };
}

/** The arms that failed in a lap are started anew; one that cannot be is among `dead` from now on. */
async function renew(
  runners: readonly Runner[],
  route: Route,
  failed: ReadonlySet<Arm>,
  dead: Map<Arm, string>,
): Promise<Runner[]> {
  if (failed.size === 0) return [...runners];
  await Promise.all(runners.filter(({ arm }) => failed.has(arm)).map(closeRunner));
  const again = await openAll([...failed], route);
  for (const [arm, reason] of again.dead) dead.set(arm, reason);
  return [...runners.filter(({ arm }) => !failed.has(arm)), ...again.runners];
}

/** For each cell one lap that counts, after at most `repeats` void ones. */
export async function runPayload(arms: readonly Arm[], route: Route, payload: Payload, session: Session): Promise<Lap[]> {
  const { options, inTime, givenUp } = session;
  const opened = await openAll(arms, route);
  const { dead } = opened;
  let { runners } = opened;
  const laps: Lap[] = [];
  try {
    for (const cell of payload.cells) {
      for (const [arm, reason] of dead) givenUp.set(keyOf(route, cell, arm), reason);
      for (let attempt = 0; attempt <= repeats && inTime(); attempt += 1) {
        const fit = runners.filter(({ arm }) => !givenUp.has(keyOf(route, cell, arm)));
        const lap = await runLap(fit, route, cell, options);
        const failed = new Set(fit.map(({ arm }) => arm).filter(({ name }) => name in lap.failures));
        for (const arm of failed) givenUp.set(keyOf(route, cell, arm), lap.failures[arm.name] ?? '');
        runners = await renew(runners, route, failed, dead);
        laps.push({ ...lap, failures: absences(route, cell, arms, givenUp) });
        if (lap.counted) break;
        console.error(`  ${cell.name} disturbed: ${(lap.disturbance * 100).toFixed(0)} % of the machine went elsewhere`);
      }
    }
  } finally {
    await Promise.all(runners.map(closeRunner));
  }
  return laps;
}

/** Why a peer is not in the laps of a cell, by its name. */
function absences(route: Route, cell: Cell, arms: readonly Arm[], givenUp: ReadonlyMap<string, string>): Record<string, string> {
  const reasons = arms.map((arm) => [arm.name, givenUp.get(keyOf(route, cell, arm))] as const);
  return Object.fromEntries(reasons.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
