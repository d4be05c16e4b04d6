// What /proc says about a process, its descendants and the rest of the machine. Linux only; elsewhere every figure is absent.
import { readFileSync, readdirSync } from 'node:fs';

/** USER_HZ is 100 on every Linux that Node runs on. */
const msPerTick = 10;

interface ProcessFacts {
  readonly parent: number;
  readonly cpuMs: number;
}

export interface MachineTime {
  /** Milliseconds of all cores together since boot. */
  readonly totalMs: number;
  /** Spent working for anyone, or stolen by the hypervisor. */
  readonly usedMs: number;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function facts(pid: number): ProcessFacts | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name in parentheses may hold spaces; fields count from the state after it (proc(5), /proc/pid/stat).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * msPerTick };
}

/** User and system time of all threads of a process, in milliseconds (resolution 10). */
export function cpuOf(pid: number): number | undefined {
  return facts(pid)?.cpuMs;
}

/** Resident memory in MB. */
export function residentOf(pid: number): number | undefined {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kb === undefined ? undefined : Number(kb) / 1024;
}

/** Every living descendant of a process with its CPU time so far, zombies included. */
export function descendantsOf(root: number): ReadonlyMap<number, number> {
  const all = new Map<number, ProcessFacts>();
  for (const name of process.platform === 'linux' ? readdirSync('/proc') : []) {
    const pid = Number(name);
    const found = Number.isInteger(pid) ? facts(pid) : undefined;
    if (found !== undefined) all.set(pid, found);
  }
  const family = new Map<number, number>();
  const add = (parent: number): void => {
    for (const [pid, found] of all) {
      if (found.parent !== parent || family.has(pid)) continue;
      family.set(pid, found.cpuMs);
      add(pid);
    }
  };
  add(root);
  return family;
}

/** CPU time of a process and all its living descendants, in milliseconds. */
export function familyCpuOf(root: number): number {
  return [...descendantsOf(root).values()].reduce((sum, cpuMs) => sum + cpuMs, cpuOf(root) ?? 0);
}

/** `undefined` where there is no /proc/stat. */
export function machineTime(): MachineTime | undefined {
  const line = read('/proc/stat')?.split('\n', 1)[0];
  if (line === undefined) return undefined;
  // user nice system idle iowait irq softirq steal; guest time is inside user already.
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const totalMs = ticks.reduce((sum, value) => sum + value, 0) * msPerTick;
  const idleMs = ((ticks[3] ?? 0) + (ticks[4] ?? 0)) * msPerTick;
  return { totalMs, usedMs: totalMs - idleMs };
}
