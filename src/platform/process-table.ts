// The operating system's process table, read once per question: who belongs to a leader, and is a pid still the process it was?
// /proc where there is one, `ps` elsewhere. Knows nothing of children we started.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** On systems without /proc the group stands for the session. */
  readonly session: number;
  /** Grows with time; comparable only within one `processSpace`. */
  readonly startedAt: number;
}

const hasProc = existsSync('/proc/self/stat');

/** Live processes; zombies are left out, they are dead and only wait to be read. */
export function processTable(): ProcessRow[] {
  return hasProc ? readProc() : readPs();
}

/** When the live process `pid` was started; cheap where there is a /proc. */
export function startTimeOf(pid: number): number | undefined {
  if (hasProc) return parseStat(readText(`/proc/${pid}/stat`) ?? '')?.startedAt;
  return readPs().find((row) => row.pid === pid)?.startedAt;
}

/**
 * The leader, its session, its group and all their descendants. A descendant that made a session of its own is found only while its
 * parent lives.
 */
export function familyOf(leader: number, table: readonly ProcessRow[]): ProcessRow[] {
  const family = new Map<number, ProcessRow>();
  for (const row of table) if (row.pid === leader || row.session === leader || row.group === leader) family.set(row.pid, row);
  for (let grown = true; grown;) {
    grown = false;
    for (const row of table) {
      if (family.has(row.pid) || !family.has(row.parent)) continue;
      family.set(row.pid, row);
      grown = true;
    }
  }
  return [...family.values()];
}

/** Names the boot and pid namespace in which pids and start times of this moment mean something. */
export function processSpace(): string {
  if (!hasProc) return 'ps';
  return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'boot'} ${readLink('/proc/self/ns/pid') ?? ''}`;
}

/** True when the signal was delivered; a process that is gone or not ours is no error. Negative pids name groups (kill(2)). */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function readProc(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const row = parseStat(readText(`/proc/${name}/stat`) ?? '');
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** proc(5): the command, field 2, may hold spaces and parentheses, so fields are counted after its last `)`. */
function parseStat(stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? 'X';
  if (state === 'Z' || state === 'X') return undefined;
  const [parent, group, session] = fields.slice(1, 4).map(Number);
  const pid = Number.parseInt(stat, 10);
  if (parent === undefined || group === undefined || session === undefined || Number.isNaN(pid)) return undefined;
  return { pid, parent, group, session, startedAt: Number(fields[19]) };
}

function readPs(): ProcessRow[] {
  const text = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart='], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, started] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (state === undefined || state.startsWith('Z')) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        startedAt: Date.parse(started ?? ''),
      },
    ];
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
