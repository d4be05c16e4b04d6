// A lock that dies with the process that holds it, whatever kills it: an exclusive transaction on an empty SQLite file, which
// is a POSIX record lock with the portability already solved. Never open a lock file by other means: closing any descriptor
// of it would give the lock up (fcntl(2)).
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../kernel/errors.ts';

export interface Lock {
  release(): Promise<void>;
}

/** The pid its holder wrote beside the lock; for messages only, the lock itself is what counts. */
function holderOf(path: string): string {
  try {
    const pid = readFileSync(`${path}.pid`, 'utf8').trim();
    return /^\d+$/.test(pid) ? `another daemon (pid ${pid})` : 'another daemon';
  } catch {
    return 'another daemon';
  }
}

function refusal(thrown: unknown, path: string, what: string): AppError {
  const errcode = thrown instanceof Error && 'errcode' in thrown ? Number(thrown.errcode) & 0xff : undefined;
  if (errcode === 5 /* SQLITE_BUSY */) {
    return new AppError('conflict', 'platform.locked', `${holderOf(path)} already runs on ${what}`, {
      hint: 'Stop it first (`sallyport down`), or use another home (SALLYPORT_HOME).',
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new AppError('unavailable', 'platform.lock_failed', `${path} cannot be locked: ${message}`, {
    hint: 'Check that its folder belongs to you, can be written, and is on a file system with locks.',
    cause: thrown,
  });
}

/** Throws `platform.locked` (kind conflict) while a live process holds it. `what` names what is locked in the message. */
export function lockFile(path: string, what: string): Lock {
  let database: DatabaseSync;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Made empty and private before SQLite opens it; an existing one is left alone, see above.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    database = new DatabaseSync(path, { timeout: 0 });
  } catch (thrown) {
    throw refusal(thrown, path, what);
  }
  try {
    database.exec('BEGIN EXCLUSIVE');
    writeFileSync(`${path}.pid`, `${process.pid}\n`, { mode: 0o600 });
    chmodSync(`${path}.pid`, 0o600);
  } catch (thrown) {
    database.close();
    throw refusal(thrown, path, what);
  }
  let held = true;
  return {
    async release() {
      if (!held) return;
      held = false;
      // The file stays: removing it would let two processes lock two files of one name.
      rmSync(`${path}.pid`, { force: true });
      database.close();
    },
  };
}

/** One daemon for each home. `runFolder` is the home's `run/`, made 0700 when missing. */
export function lockHome(runFolder: string): Lock {
  return lockFile(join(runFolder, 'daemon.lock'), `the home ${dirname(runFolder)}`);
}
