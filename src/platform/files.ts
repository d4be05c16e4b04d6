// The Files port on node:fs: private modes, atomic replacement, folders created on demand. Knows nothing of what is stored.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import type { Files } from '../kernel/ports.ts';
import { openAppend } from './append-file.ts';
import { watchFile } from './file-watch.ts';

const leftover = /^\..+\.[0-9a-f]{12}\.tmp$/;

function errnoOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | null)?.code;
}

function failed(verb: 'read' | 'write', path: string, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('unavailable', `platform.${verb}_failed`, `cannot ${verb} ${path}: ${why}`, {
    hint: 'Check that the folder exists, that it belongs to this user, and that the disk has room.',
    data: { path, errno: errnoOf(cause) ?? 'unknown' },
    cause,
  });
}

/** `undefined` for a file or folder that is not there; anything else that goes wrong is `platform.read_failed`. */
async function whenThere<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw failed('read', path, thrown);
  }
}

async function readRange(path: string, range: { offset: number; length: number }): Promise<Uint8Array> {
  const handle = await open(path, 'r');
  try {
    const bytes = new Uint8Array(range.length);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, range.offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAtomic(path: string, data: string | Uint8Array): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  let handle: FileHandle | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    handle = await open(temporary, 'wx', 0o600);
    await handle.writeFile(data);
    await handle.sync();
    await handle.close();
    handle = undefined;
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (thrown) {
    await handle?.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw failed('write', path, thrown);
  }
}

/** Files of the home: what is written is 0600 in folders of 0700, and a reader sees the old or the new content, never a mix. */
export function createFiles(): Files {
  return {
    readText: (path) => whenThere(path, () => readFile(path, 'utf8')),
    readBytes: (path, range) => whenThere(path, async () => (range ? readRange(path, range) : readFile(path))),
    size: (path) => whenThere(path, async () => (await stat(path)).size),
    writeAtomic,
    list: async (folder) => {
      const names = await whenThere(folder, () => readdir(folder));
      // What an interrupted writeAtomic left behind is nobody's file.
      return (names ?? []).filter((name) => !leftover.test(name)).sort();
    },
    remove: async (path) => {
      try {
        await unlink(path);
      } catch (thrown) {
        if (errnoOf(thrown) !== 'ENOENT') throw failed('write', path, thrown);
      }
    },
    openAppend,
    watch: watchFile,
  };
}
