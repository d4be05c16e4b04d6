// What a daemon that died without warning leaves for the next one: a file per child with pid and start time, so that the sweep at boot
// ends what is left of it and never a stranger that got the same number.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { familyOf, processSpace, processTable, signal, startTimeOf, type ProcessRow } from './process-table.ts';

export interface ProcessRecords {
  add(pid: number): void;
  remove(pid: number): void;
  /** SIGKILLs what records of earlier owners still name, with its family. Returns how many processes that were. */
  sweep(): number;
}

interface ProcessRecord {
  readonly space: string;
  readonly pid: number;
  readonly startedAt: number;
}

/** One file per child in `folder`, which is made when needed. */
export function createProcessRecords(folder: string): ProcessRecords {
  const space = processSpace();
  const mine = new Set<number>();
  const fileOf = (pid: number): string => join(folder, `${pid}.json`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  return {
    add(pid) {
      mine.add(pid);
      const startedAt = startTimeOf(pid);
      if (startedAt === undefined) return;
      writeFileSync(fileOf(pid), JSON.stringify({ space, pid, startedAt } satisfies ProcessRecord), { mode: 0o600 });
    },
    remove(pid) {
      if (mine.delete(pid)) rmSync(fileOf(pid), { force: true });
    },
    sweep() {
      const table = processTable();
      let ended = 0;
      for (const name of readdirSync(folder)) {
        const record = read(join(folder, name));
        if (record !== undefined && mine.has(record.pid)) continue;
        if (record !== undefined && record.space === space) {
          for (const row of leftOf(record, table)) if (signal(row.pid, 'SIGKILL')) ended += 1;
        }
        rmSync(join(folder, name), { force: true });
      }
      return ended;
    },
  };
}

/** A leader with another start time is a stranger; without a leader, members of its session younger than the record are its orphans. */
function leftOf(record: ProcessRecord, table: readonly ProcessRow[]): ProcessRow[] {
  const leader = table.find((row) => row.pid === record.pid);
  if (leader !== undefined && leader.startedAt !== record.startedAt) return [];
  return familyOf(record.pid, table).filter((row) => row.startedAt >= record.startedAt && row.pid !== process.pid);
}

function read(path: string): ProcessRecord | undefined {
  try {
    const { space, pid, startedAt } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProcessRecord>;
    return typeof space === 'string' && Number.isSafeInteger(pid) && typeof startedAt === 'number'
      ? { space, pid: pid ?? 0, startedAt }
      : undefined;
  } catch {
    return undefined;
  }
}
