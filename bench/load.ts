// The load client, a process of its own: `process.send` brings it one piece of work at a time and takes the figures back.
// Knows nothing of rounds, ratios or what stands behind the target.
import type { Target, Tool } from './arm.ts';
import type { Door, Session } from './client.ts';
import { httpDoor } from './client-http.ts';
import { pipeDoor } from './client-pipe.ts';
import { sseDoor } from './client-sse.ts';
import { cpuOf, descendantsOf, familyCpuOf, machineTime, residentOf } from './machine.ts';
import { percentile } from './statistics.ts';

export interface Work {
  readonly tool: Tool;
  readonly size: number;
  readonly sessions: number;
  readonly warmUp: number;
  readonly calls: number;
  /** No call starts later than this after measuring began; a slow arm makes fewer calls, never none. */
  readonly limitMs: number;
}

/** Absent figures could not be read on this system. */
export interface Figures {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** User and system time of the measured processes for each call, microseconds. */
  readonly cpuUs?: number;
  readonly rssMb?: number;
  readonly children?: number;
  /** Share of all cores that went to anything but this benchmark while measuring, 0 to 1. */
  readonly disturbance: number;
}

export type Report = { readonly figures: Figures } | { readonly error: string } | { readonly ready: true };

/** The same calls warm up every arm; this only ends what hangs. */
const warmUpLimitMs = 10_000;

/** Everything the benchmark runs descends from the process that started this one. */
const family = process.ppid;

/** Each session keeps one call in flight until `calls` are done or `limitMs` is over; latencies in milliseconds, ascending. */
async function drive(sessions: readonly Session[], { tool, size, limitMs }: Work, calls: number): Promise<number[]> {
  const latencies: number[] = [];
  let left = calls;
  const end = performance.now() + limitMs;
  await Promise.all(
    sessions.map(async (session) => {
      for (let started = performance.now(); left-- > 0; started = performance.now()) {
        if (started > end && latencies.length > 0) break;
        await session.call(tool, size);
        latencies.push(performance.now() - started);
      }
    }),
  );
  return latencies.sort((a, b) => a - b);
}

/** The sum over processes, absent when one of them cannot be read. */
function total(pids: readonly number[], read: (pid: number) => number | undefined): number | undefined {
  const values = pids.map(read).filter((value) => value !== undefined);
  return values.length === pids.length && pids.length > 0 ? values.reduce((sum, value) => sum + value, 0) : undefined;
}

async function measure(door: Door, pids: readonly number[], work: Work): Promise<Figures> {
  const sessions = await Promise.all(Array.from({ length: work.sessions }, () => door.open()));
  await drive(sessions, { ...work, limitMs: warmUpLimitMs }, work.warmUp);

  const machineBefore = machineTime();
  const ownBefore = familyCpuOf(family);
  const cpuBefore = total(pids, cpuOf);
  const started = performance.now();
  const latencies = await drive(sessions, work, work.calls);
  const seconds = (performance.now() - started) / 1000;
  const cpuAfter = total(pids, cpuOf);
  const ownMs = familyCpuOf(family) - ownBefore;
  const machineAfter = machineTime();

  const rssMb = total(pids, residentOf);
  const below = new Set(pids.flatMap((pid) => [...descendantsOf(pid).keys()]));
  await Promise.all(sessions.map((session) => session.close()));
  const spanMs = (machineAfter?.totalMs ?? 0) - (machineBefore?.totalMs ?? 0);
  const othersMs = (machineAfter?.usedMs ?? 0) - (machineBefore?.usedMs ?? 0) - ownMs;
  const cpuUs = cpuBefore === undefined || cpuAfter === undefined ? undefined : ((cpuAfter - cpuBefore) * 1000) / latencies.length;
  return {
    p50Ms: percentile(latencies, 0.5),
    p95Ms: percentile(latencies, 0.95),
    p99Ms: percentile(latencies, 0.99),
    perSecond: latencies.length / seconds,
    ...(cpuUs === undefined ? {} : { cpuUs }),
    ...(rssMb === undefined ? {} : { rssMb, children: below.size }),
    disturbance: spanMs > 0 ? Math.max(0, othersMs / spanMs) : 0,
  };
}

function open(target: Target): Promise<Door> | Door {
  if (target.kind === 'pipe') return pipeDoor(target);
  return target.kind === 'sse' ? sseDoor(target) : httpDoor(target);
}

const { target, pid } = JSON.parse(process.argv[2] ?? '{}') as { target: Target; pid?: number };
const report = (message: Report): void => void process.send?.(message);
const door = await open(target);
const pids = [pid, door.pid].filter((each) => each !== undefined);
process.on('disconnect', () => {
  door.close();
  process.exit(0);
});
process.on('message', (work: Work) => {
  measure(door, pids, work).then(
    (figures) => report({ figures }),
    (error: unknown) => report({ error: error instanceof Error ? error.message : String(error) }),
  );
});
report({ ready: true });
