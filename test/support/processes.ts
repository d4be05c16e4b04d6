// Which processes belong to a test: those that carry its folder in their environment or command line, whoever their parent is by now.
// Linux only, as it reads /proc; elsewhere nothing is found and suites that depend on it skip themselves.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const canSeeProcesses = existsSync('/proc/self/environ');

/** Alive, and no zombie. Never this process. */
export function processesOf(folder: string): number[] {
  if (!canSeeProcesses) return [];
  return pids().filter((pid) => pid !== process.pid && belongs(pid, folder) && stateOf(pid)?.state !== 'Z');
}

/** Children of `parent` that ended and were not waited for. */
export function zombiesOf(parent: number): number[] {
  return pids().filter((pid) => {
    const found = stateOf(pid);
    return found?.state === 'Z' && found.parent === parent;
  });
}

/** Direct children, alive. */
export function childrenOf(parent: number): number[] {
  return pids().filter((pid) => {
    const found = stateOf(pid);
    return found?.parent === parent && found.state !== 'Z';
  });
}

/** Resident set in MiB. */
export function residentOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

function pids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function belongs(pid: number, folder: string): boolean {
  return ['environ', 'cmdline'].some((file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}

function stateOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
