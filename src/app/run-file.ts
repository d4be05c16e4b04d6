// run/daemon.json: where a running daemon is, for people and scripts. It is a note, not a proof: whether a daemon runs is asked at
// its socket.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFiles } from '../platform/files.ts';
import { socketOf } from './config.ts';
import { answers } from './doors.ts';

export interface RunFile {
  readonly agent_url: string;
  readonly human_url: string;
  readonly socket: string;
  readonly pid: number;
}

const pathOf = (home: string): string => join(home, 'run', 'daemon.json');

export async function writeRunFile(home: string, file: RunFile): Promise<void> {
  await createFiles().writeAtomic(pathOf(home), `${JSON.stringify(file)}\n`);
}

/** Only the note of this process; another daemon's stays. */
export async function removeRunFile(home: string, pid: number): Promise<void> {
  if ((await readRunFile(home))?.pid === pid) await rm(pathOf(home), { force: true });
}

/** The daemon that runs now; a note that a killed daemon left behind is recognised by its silent socket and ignored. */
export async function runningDaemon(home: string): Promise<{ readonly pid: number | undefined } | undefined> {
  if (!(await answers(socketOf(home)))) return undefined;
  return { pid: (await readRunFile(home))?.pid };
}

/** The note as it lies there, of a daemon that may be gone. `undefined` when there is none that can be read. */
export async function readRunFile(home: string): Promise<RunFile | undefined> {
  try {
    const file = JSON.parse(await readFile(pathOf(home), 'utf8')) as Partial<RunFile>;
    return typeof file.pid === 'number' && Number.isSafeInteger(file.pid) && file.pid > 1 ? (file as RunFile) : undefined;
  } catch {
    return undefined;
  }
}
