// The PlacedFiles port on node:fs. Folders are opened one by one, each inside the one before, and never through a link; on Linux names are
// then looked up inside the open folder (/proc/self/fd), elsewhere the path is held against the open folder before and after each step.
import { createHash, randomBytes } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { open, lstat, readdir, realpath, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import type { PlacedFiles } from '../kernel/ports.ts';
import type { PlacementErrorCode } from '../features/placements/model.ts';

export interface PlacedFilesOptions {
  /** Absolute folders that nothing is read from or written to, by name or by any other path to them. */
  readonly forbidden: readonly string[];
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants;
const linux = process.platform === 'linux';
/** Linux only (fcntl.h), not among node's constants: a folder may be passed through without being readable. */
const O_PATH = 0o10000000;

interface Folder {
  readonly handle: FileHandle;
  /** A path that leads to this name in the open folder. */
  at(name: string): string;
  /** Throws unless the path still leads to the folder that was opened. */
  assertThere(): Promise<void>;
}

function failure(kind: AppError['kind'], code: PlacementErrorCode, path: string, why: string, hint?: string): AppError {
  return new AppError(kind, code, `${path} ${why}.`, hint === undefined ? {} : { hint });
}

const unsafe = (path: string, why: string, hint?: string): AppError =>
  failure('denied', 'placements.unsafe_place', path, why, hint ?? 'Choose another place.');

/** What the system said, as one of ours. */
function told(thrown: unknown, path: string): AppError {
  if (thrown instanceof AppError) return thrown;
  const { code = 'unknown error' } = thrown as NodeJS.ErrnoException;
  if (code === 'ELOOP' || code === 'EMLINK') return unsafe(path, 'is a symbolic link');
  return failure('unavailable', 'placements.failed', path, `cannot be used (${code})`, 'Check the folder, its owner and its room.');
}

export function createPlacedFiles({ forbidden }: PlacedFilesOptions): PlacedFiles {
  const me = BigInt(process.geteuid?.() ?? -1);

  async function forbiddenFolders(): Promise<ReadonlySet<string>> {
    const found = await Promise.all(forbidden.map((path) => stat(path, { bigint: true }).catch(() => undefined)));
    return new Set(found.flatMap((stats) => (stats === undefined ? [] : [identityOf(stats)])));
  }

  /** The folder, which is ours and which nobody else can write to. Throws for every doubt on the way. */
  async function openFolder(path: string): Promise<Folder> {
    const closed = await forbiddenFolders();
    if (forbidden.some((folder) => path === folder || path.startsWith(`${folder}/`)))
      throw unsafe(path, 'is within a home of this program');
    const parts = path.split('/').filter((part) => part !== '');
    let handle = await open('/', O_RDONLY | O_DIRECTORY);
    try {
      for (const [index, part] of parts.entries()) {
        const here = `/${parts.slice(0, index + 1).join('/')}`;
        const next = await openStep(handle, part, here, index === parts.length - 1);
        await handle.close();
        handle = next;
        if (closed.has(identityOf(await handle.stat({ bigint: true })))) throw unsafe(here, 'is a home of this program');
      }
      const stats = await handle.stat({ bigint: true });
      if (stats.uid !== me) throw unsafe(path, 'belongs to another user');
      if ((stats.mode & 0o002n) !== 0n) throw unsafe(path, 'can be written to by everybody', `Run: chmod o-w ${path}`);
      const folder: Folder = {
        handle,
        at: (name) => (linux ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)),
        async assertThere() {
          const now = await stat(path, { bigint: true }).catch(() => undefined);
          if (now === undefined || identityOf(now) !== identityOf(stats) || (await realpath(path)) !== path)
            throw unsafe(path, 'was exchanged while it was used');
        },
      };
      await folder.assertThere();
      return folder;
    } catch (thrown) {
      await handle.close();
      throw told(thrown, path);
    }
  }

  /** The plain file of ours with this name, one name only; `undefined`: none. */
  async function openFile(folder: Folder, path: string): Promise<FileHandle | undefined> {
    let handle: FileHandle;
    try {
      // Without O_NONBLOCK opening a named pipe would wait for a writer.
      handle = await open(folder.at(basename(path)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw told(thrown, path);
    }
    try {
      const { uid, nlink, mode } = await handle.stat({ bigint: true });
      if ((mode & BigInt(constants.S_IFMT)) !== BigInt(constants.S_IFREG)) throw unsafe(path, 'is no plain file');
      if (uid !== me) throw unsafe(path, 'belongs to another user');
      if (nlink !== 1n) throw unsafe(path, 'has another name somewhere (a hard link)');
      return handle;
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  async function readIn(folder: Folder, path: string, mostBytes: number): Promise<Uint8Array | undefined> {
    const handle = await openFile(folder, path);
    if (handle === undefined) return undefined;
    try {
      const bytes = Buffer.alloc(mostBytes + 1);
      let filled = 0;
      for (;;) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
        filled += bytesRead;
        if (bytesRead === 0 || filled === bytes.length) break;
      }
      if (filled > mostBytes) throw unsafe(path, `is larger than ${mostBytes} bytes`);
      return bytes.subarray(0, filled);
    } finally {
      await handle.close();
    }
  }

  async function put(folder: Folder, path: string, content: Uint8Array): Promise<void> {
    const name = basename(path);
    await sweep(folder, name);
    const temporary = folder.at(`.${name}.${randomBytes(6).toString('hex')}.tmp`);
    let handle: FileHandle | undefined;
    try {
      handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      await handle.writeFile(content);
      await handle.sync();
      await handle.close();
      handle = undefined;
      await assertReplaceable(folder, path);
      await folder.assertThere();
      await rename(temporary, folder.at(name));
      await folder.handle.sync();
    } catch (thrown) {
      await handle?.close().catch(() => undefined);
      await unlink(temporary).catch(() => undefined);
      throw thrown;
    }
  }

  async function inFolder<T>(path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
    const folder = await openFolder(dirname(path));
    try {
      return await work(folder);
    } catch (thrown) {
      throw told(thrown, path);
    } finally {
      await folder.handle.close();
    }
  }

  return {
    read: (path, mostBytes) => inFolder(path, (folder) => readIn(folder, path, mostBytes)),

    replace: (path, content, how) =>
      inFolder(path, async (folder) => {
        const before = await readIn(folder, path, how.mostBytes);
        if ('backup' in how) {
          const found = before && createHash('sha256').update(before).digest('hex');
          if (found !== how.expected)
            throw failure('conflict', 'placements.changed', path, 'is another file than was shown', 'Ask again.');
          if (before !== undefined) await put(folder, how.backup, before);
        }
        await put(folder, path, content);
      }),
  };
}

async function openStep(within: FileHandle, part: string, here: string, last: boolean): Promise<FileHandle> {
  const path = linux ? `/proc/self/fd/${within.fd}/${part}` : here;
  try {
    return await open(path, O_DIRECTORY | O_NOFOLLOW | (linux && !last ? O_PATH : O_RDONLY));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw unsafe(here, 'does not exist', `Make it first: mkdir -p ${here}`);
    if (code === 'ENOTDIR' || code === 'ELOOP') throw unsafe(here, 'is a symbolic link or no folder', 'Name the folder itself.');
    throw thrown;
  }
}

/** A rename replaces what is there: a link as such, never what it leads to; still, nothing but a plain file gives way. */
async function assertReplaceable(folder: Folder, path: string): Promise<void> {
  const there = await lstat(folder.at(basename(path))).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined;
    throw thrown;
  });
  if (there !== undefined && (!there.isFile() || there.nlink !== 1)) throw unsafe(path, 'is no plain file with one name');
}

/** What a write that was killed left behind holds a secret too. */
async function sweep(folder: Folder, name: string): Promise<void> {
  const left = (await readdir(folder.at('.'))).filter(
    (entry) => entry.startsWith(`.${name}.`) && /^[0-9a-f]{12}\.tmp$/.test(entry.slice(name.length + 2)),
  );
  for (const entry of left) await unlink(folder.at(entry));
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
