// A file that only grows: one write per append, whole or not at all. Knows nothing of what is appended.
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import type { AppendFile } from '../kernel/ports.ts';

function writeFailed(path: string, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const errno = (cause as NodeJS.ErrnoException | null)?.code ?? 'unknown';
  return new AppError('unavailable', 'platform.write_failed', `cannot append to ${path}: ${why}`, {
    hint: errno === 'ENOSPC' || errno === 'EDQUOT' ? 'Make room on the disk.' : 'Check the disk and the rights of the file.',
    data: { path, errno },
    cause,
  });
}

function syncFolder(folder: string, done: (error: Error | null) => void): void {
  fs.open(folder, 'r', (openError, handle) => {
    if (openError) return done(openError);
    fs.fsync(handle, (syncError) => fs.close(handle, () => done(syncError)));
  });
}

/**
 * Opens or creates (0600, folders 0700). A partial write is cut back before the error leaves; when even the cut fails, the
 * file takes nothing more until a later append could cut it. The first sync of a created file also makes its name durable.
 */
export function openAppend(path: string): AppendFile {
  let handle: number;
  let size: number;
  let nameIsDurable = true;
  try {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    nameIsDurable = fs.existsSync(path);
    handle = fs.openSync(path, 'a', 0o600);
    size = fs.fstatSync(handle).size;
  } catch (thrown) {
    throw writeFailed(path, thrown);
  }
  let torn = false;
  let closed = false;
  let syncing = 0;

  const release = (): void => {
    if (closed && syncing === 0) fs.closeSync(handle);
  };
  const cutBack = (): void => {
    torn = true;
    fs.ftruncateSync(handle, size);
    torn = false;
  };

  return {
    get size() {
      return size;
    },
    append(bytes) {
      try {
        if (closed) throw new Error('the file is closed');
        if (torn) cutBack();
        const written = fs.writeSync(handle, bytes, 0, bytes.length);
        if (written !== bytes.length) {
          throw Object.assign(new Error(`only ${written} of ${bytes.length} bytes were written`), { code: 'ENOSPC' });
        }
        size += written;
      } catch (thrown) {
        try {
          if (!closed) cutBack();
        } catch {
          // `torn` stays set: the next append cuts first, or fails again.
        }
        throw writeFailed(path, thrown);
      }
    },
    sync() {
      return new Promise((resolve, reject) => {
        if (closed) return reject(writeFailed(path, new Error('the file is closed')));
        syncing += 1;
        const done = (error: Error | null): void => {
          syncing -= 1;
          release();
          if (error) reject(writeFailed(path, error));
          else resolve();
        };
        fs.fdatasync(handle, (error) => {
          if (error || nameIsDurable) return done(error);
          syncFolder(dirname(path), (folderError) => {
            nameIsDurable = !folderError;
            done(folderError);
          });
        });
      });
    },
    truncate(to) {
      try {
        fs.ftruncateSync(handle, to);
        size = to;
      } catch (thrown) {
        throw writeFailed(path, thrown);
      }
    },
    close() {
      if (closed) return;
      closed = true;
      release();
    },
  };
}
