// One lap: one cell, every subject once, one after another on otherwise idle processes. A lap that other load disturbed is void.
import { fileURLToPath } from 'node:url';
import type { ChildProcess } from 'node:child_process';
import type { Arm, RunningArm, Tool } from './arm.ts';
import type { Cell } from './cells.ts';
import { start, stop } from './children.ts';
import type { Figures, Report, Work } from './load.ts';

/** Calls that settle connections and caches of a cell when its payload was already warmed up. */
const settle = 64;
const workDeadlineMs = 120_000;
const program = fileURLToPath(new URL('load.ts', import.meta.url));

/** An arm with its own load client, ready. */
export interface Runner {
  readonly arm: Arm;
  readonly running: RunningArm;
  readonly client: ChildProcess;
  /** Tools that had their long warm-up. */
  readonly warm: Set<Tool>;
}

export interface Lap {
  readonly cell: string;
  /** By subject: `direct`, `floor`, `sallyport read`, … */
  readonly figures: Readonly<Record<string, Figures>>;
  readonly disturbance: number;
  readonly counted: boolean;
}

/** The name of a row: the arm, and the tool where the arm is measured with more than one. */
export function subjectOf(arm: Arm, tool: Tool): string {
  return arm.tools.length > 1 ? `${arm.name} ${tool}` : arm.name;
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

export async function openRunner(arm: Arm): Promise<Runner> {
  const running = await arm.start();
  const brief = JSON.stringify({ target: running.target, pid: running.pid });
  const client = start(process.execPath, [program, brief], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await reply(client, arm.name);
    return { arm, running, client, warm: new Set() };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

export async function closeRunner({ running, client }: Runner): Promise<void> {
  await stop(client);
  await running.stop();
}

async function figuresOf({ arm, client, warm }: Runner, tool: Tool, cell: Cell): Promise<Figures> {
  const warmUp = warm.has(tool) ? Math.min(settle, cell.warmUp) : cell.warmUp;
  warm.add(tool);
  const work: Work = { tool, size: cell.size, sessions: cell.sessions, warmUp, calls: cell.calls };
  const answer = reply(client, arm.name);
  client.send(work);
  const report = await answer;
  if ('figures' in report) return report.figures;
  throw new Error(`${arm.name}, cell ${cell.name}: ${'error' in report ? report.error : 'unexpected answer of the load client'}`);
}

/** `turn` rotates who goes first, so that no subject always runs after the same other; above `tolerance` the lap is void. */
export async function runLap(runners: readonly Runner[], cell: Cell, turn: number, tolerance: number): Promise<Lap> {
  const figures: Record<string, Figures> = {};
  const first = turn % runners.length;
  for (const runner of [...runners.slice(first), ...runners.slice(0, first)]) {
    for (const tool of runner.arm.tools) figures[subjectOf(runner.arm, tool)] = await figuresOf(runner, tool, cell);
  }
  const disturbance = Math.max(...Object.values(figures).map((each) => each.disturbance));
  return { cell: cell.name, figures, disturbance, counted: disturbance <= tolerance };
}
