// The load client, a process of its own: `process.send` brings it one piece of work at a time and takes the figures back.
// Knows nothing of rounds, ratios or what stands behind the target.
import type { Target, Tool } from './arm.ts';
import type { Door, Session } from './client.ts';
import { httpDoor } from './client-http.ts';
import { pipeDoor } from './client-pipe.ts';
import { cpuOf, descendantsOf, familyCpuOf, machineTime, residentOf } from './machine.ts';
import { percentile } from './statistics.ts';

export interface Work {
  readonly tool: Tool;
  readonly size: number;
  readonly sessions: number;
  readonly warmUp: number;
  readonly calls: number;
}

/** Absent figures could not be read on this system. */
export interface Figures {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** User and system time of the measured process for each call, microseconds. */
  readonly cpuUs?: number;
  readonly rssMb?: number;
  readonly children?: number;
  /** Share of all cores that went to anything but this benchmark while measuring, 0 to 1. */
  readonly disturbance: number;
}

export type Report = { readonly figures: Figures } | { readonly error: string } | { readonly ready: true };

/** Everything the benchmark runs descends from the process that started this one. */
const family = process.ppid;

/** Each session keeps one call in flight until `calls` are done; latencies in milliseconds. */
async function drive(sessions: readonly Session[], { tool, size }: Work, calls: number): Promise<number[]> {
  const latencies: number[] = [];
  let left = calls;
  await Promise.all(
    sessions.map(async (session) => {
      while (left-- > 0) {
        const started = performance.now();
        await session.call(tool, size);
        latencies.push(performance.now() - started);
      }
    }),
  );
  return latencies.sort((a, b) => a - b);
}

async function measure(door: Door, pid: number | undefined, work: Work): Promise<Figures> {
  const sessions = await Promise.all(Array.from({ length: work.sessions }, () => door.open()));
  await drive(sessions, work, work.warmUp);

  const machineBefore = machineTime();
  const ownBefore = familyCpuOf(family);
  const cpuBefore = pid === undefined ? undefined : cpuOf(pid);
  const started = performance.now();
  const latencies = await drive(sessions, work, work.calls);
  const seconds = (performance.now() - started) / 1000;
  const cpuAfter = pid === undefined ? undefined : cpuOf(pid);
  const ownMs = familyCpuOf(family) - ownBefore;
  const machineAfter = machineTime();

  const rssMb = pid === undefined ? undefined : residentOf(pid);
  await Promise.all(sessions.map((session) => session.close()));
  const spanMs = (machineAfter?.totalMs ?? 0) - (machineBefore?.totalMs ?? 0);
  const othersMs = (machineAfter?.usedMs ?? 0) - (machineBefore?.usedMs ?? 0) - ownMs;
  return {
    p50Ms: percentile(latencies, 0.5),
    p95Ms: percentile(latencies, 0.95),
    p99Ms: percentile(latencies, 0.99),
    perSecond: work.calls / seconds,
    ...(cpuBefore === undefined || cpuAfter === undefined ? {} : { cpuUs: ((cpuAfter - cpuBefore) * 1000) / work.calls }),
    ...(rssMb === undefined ? {} : { rssMb }),
    ...(pid === undefined || rssMb === undefined ? {} : { children: descendantsOf(pid).size }),
    disturbance: spanMs > 0 ? Math.max(0, othersMs / spanMs) : 0,
  };
}

const { target, pid } = JSON.parse(process.argv[2] ?? '{}') as { target: Target; pid?: number };
const report = (message: Report): void => void process.send?.(message);
const door = target.kind === 'pipe' ? await pipeDoor(target) : httpDoor(target);
process.on('disconnect', () => {
  door.close();
  process.exit(0);
});
process.on('message', (work: Work) => {
  measure(door, pid ?? door.pid, work).then(
    (figures) => report({ figures }),
    (error: unknown) => report({ error: error instanceof Error ? error.message : String(error) }),
  );
});
report({ ready: true });
