// Places as texts: which spelling of a path is the only one, and which paths an entry of the operator's list is about. Looks at no file.
import { badPlace, refusal } from './refusals.ts';
import { backupEnding, sidecarEnding } from './model.ts';

const longestPath = 4_000;
/** File systems that are windows into the system itself. */
const windows = ['/proc', '/sys', '/dev'];

/** The path, if it is absolute and has one spelling only. Throws `placements.bad_place`. */
export function plainPath(path: string): string {
  if (!path.startsWith('/')) throw badPlace(path, 'is not absolute');
  if (path.length > longestPath) throw badPlace(path, 'is too long');
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(path) || path.normalize('NFC') !== path)
    throw badPlace(path, 'has characters that a person cannot see');
  const [, ...parts] = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) throw badPlace(path, 'can be written in another way');
  if (windows.some((window) => path === window || path.startsWith(`${window}/`))) throw badPlace(path, 'belongs to the system');
  return path;
}

/** The same for a file a secret goes into. */
export function plainDestination(path: string): string {
  if (path.endsWith(sidecarEnding) || path.endsWith(backupEnding))
    throw badPlace(path, `ends in ${sidecarEnding} or ${backupEnding}, which are written beside it`);
  return plainPath(path);
}

/** An entry of the list: one file, or `DIR/**` for everything below a folder. Throws `placements.bad_destination`. */
export function destinationEntry(text: string): string {
  const path = text.endsWith('/**') ? text.slice(0, -3) : text;
  const bad = (why: string): Error =>
    refusal('invalid', 'placements.bad_destination', `'${text.slice(0, 200)}' ${why}.`, 'Give a file, or DIR/** for a folder.');
  if (path === '') throw bad('would allow every file there is');
  if (/[*?[\]{}]/.test(path)) throw bad("has a wildcard other than '/**' at its end");
  plainPath(path);
  return text;
}

export function allowedBy(entries: readonly string[], path: string): boolean {
  return entries.some((entry) => (entry.endsWith('/**') ? path.startsWith(entry.slice(0, -2)) : path === entry));
}
