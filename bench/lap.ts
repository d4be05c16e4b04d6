// One lap: one cell, every subject once, one after another on otherwise idle processes. A lap that other load disturbed is void.
import type { ChildProcess } from 'node:child_process';
import { subjectOf, type Arm, type Route, type RunningArm, type Tool } from './arm.ts';
import type { Cell } from './cells.ts';
import { programOf, start, stop } from './children.ts';
import type { Figures, Report, Work } from './load.ts';

/** Calls that settle connections and caches of a cell when its payload was already warmed up. */
const settle = 64;
/** A cell takes a few seconds; what takes this long hangs. */
const workDeadlineMs = 40_000;

/** An arm with its own load client, ready. */
export interface Runner {
  readonly arm: Arm;
  readonly running: RunningArm;
  readonly client: ChildProcess;
  /** Tools that had their long warm-up. */
  readonly warm: Set<Tool>;
}

export interface Lap {
  readonly route: Route;
  readonly cell: string;
  /** By subject: `direct`, `floor`, `sallyport read`, … */
  readonly figures: Readonly<Record<string, Figures>>;
  /** Why a peer has no figures here, by subject. */
  readonly failures: Readonly<Record<string, string>>;
  readonly disturbance: number;
  readonly counted: boolean;
}

function reply(client: ChildProcess, name: string): Promise<Report> {
  return new Promise((resolve, reject) => {
    const settleWith = (done: () => void): void => {
      clearTimeout(deadline);
      client.off('message', heard).off('exit', left);
      done();
    };
    const heard = (message: Report): void => settleWith(() => resolve(message));
    const left = (): void => settleWith(() => reject(new Error(`the load client of ${name} ended early`)));
    const late = (): void => settleWith(() => reject(new Error(`${name} did not finish within ${workDeadlineMs / 1000} s`)));
    const deadline = setTimeout(late, workDeadlineMs);
    client.on('message', heard).on('exit', left);
  });
}

export async function openRunner(arm: Arm, route: Route): Promise<Runner> {
  const running = await arm.start(route);
  const brief = JSON.stringify({ target: running.target, pid: running.pid });
  const client = start(process.execPath, [programOf('load.ts'), brief], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await reply(client, arm.name);
    return { arm, running, client, warm: new Set() };
  } catch (error) {
    await stop(client);
    await running.stop();
    throw error;
  }
}

export async function closeRunner({ running, client }: Runner): Promise<void> {
  await stop(client);
  await running.stop();
}

/** Rejects with what went wrong when a single answer was not the asked one. */
export async function measure({ arm, client, warm }: Runner, tool: Tool, cell: Cell, limitMs: number): Promise<Figures> {
  const warmUp = warm.has(tool) ? Math.min(settle, cell.warmUp) : cell.warmUp;
  warm.add(tool);
  const work: Work = { tool, size: cell.size, sessions: cell.sessions, warmUp, calls: cell.calls, limitMs };
  const answer = reply(client, arm.name);
  client.send(work);
  const report = await answer;
  if ('figures' in report) return report.figures;
  throw new Error(`${arm.name}, cell ${cell.name}: ${'error' in report ? report.error : 'unexpected answer of the load client'}`);
}

export interface LapOptions {
  /** Rotates who goes first, so that no subject always runs after the same other. */
  readonly turn: number;
  /** Above this share of the machine going elsewhere the lap is void. */
  readonly tolerance: number;
  /** How long a subject is measured at most. */
  readonly limitMs: number;
}

/** A peer's failure is noted and the lap goes on without it; one of our own arms rejects the lap. */
export async function runLap(runners: readonly Runner[], route: Route, cell: Cell, options: LapOptions): Promise<Lap> {
  const figures: Record<string, Figures> = {};
  const failures: Record<string, string> = {};
  const first = options.turn % runners.length;
  for (const runner of [...runners.slice(first), ...runners.slice(0, first)]) {
    for (const tool of runner.arm.tools) {
      const subject = subjectOf(runner.arm, tool);
      try {
        figures[subject] = await measure(runner, tool, cell, options.limitMs);
      } catch (error) {
        if (runner.arm.peer === undefined) throw error;
        failures[subject] = error instanceof Error ? error.message : String(error);
      }
    }
  }
  const disturbance = Math.max(0, ...Object.values(figures).map((each) => each.disturbance));
  return { route, cell: cell.name, figures, failures, disturbance, counted: disturbance <= options.tolerance };
}
