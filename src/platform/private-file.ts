// A file that only its owner may read: opened, checked and read through one descriptor, so that nothing can be swapped in between.
// Refuses links, other people's files and anything a group or the world could open.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { AppError } from '../kernel/errors.ts';

export interface PrivateFileWords {
  /** What the file is, for messages: `passphrase file`. */
  readonly what: string;
  readonly maxBytes: number;
}

/** Its text, UTF-8; `undefined` when there is no such file. Throws `operator.unsafe_file` (kind denied) for every other doubt. */
export async function readPrivateFile(path: string, { what, maxBytes }: PrivateFileWords): Promise<string | undefined> {
  const unsafe = (why: string, hint: string): AppError =>
    new AppError('denied', 'operator.unsafe_file', `The ${what} ${path} ${why}.`, { hint });
  let file;
  try {
    // Without O_NONBLOCK opening a named pipe would wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'EMLINK') throw unsafe('is a symbolic link', 'Name the file itself.');
    throw unsafe(`cannot be opened (${code ?? 'unknown error'})`, 'It must be a file that you own, with mode 0600.');
  }
  try {
    const { mode, uid, size } = await file.stat({ bigint: false });
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw unsafe('is not a regular file', 'Name a plain file with mode 0600.');
    if (uid !== process.getuid?.()) throw unsafe('belongs to another user', 'Make a copy that you own, with mode 0600.');
    if ((mode & 0o077) !== 0) {
      throw unsafe(`can be opened by others (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`, `Run: chmod 600 ${path}`);
    }
    if (size > maxBytes) throw unsafe(`is larger than ${maxBytes} bytes`, 'Check that it is the right file.');
    const bytes = Buffer.alloc(maxBytes);
    const { bytesRead } = await file.read(bytes, 0, maxBytes, 0);
    const text = bytes.toString('utf8', 0, bytesRead);
    bytes.fill(0);
    return text;
  } finally {
    await file.close();
  }
}
