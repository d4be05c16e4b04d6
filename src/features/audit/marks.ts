// Every checkpoint that the tree of a log is held against: all that the folder keeps, and those that somebody brings along.
import { AppError } from '../../kernel/errors.ts';
import type { Digest, Files, Verifier } from '../../kernel/ports.ts';
import { openCheckpoint, splitNotes } from './checkpoint.ts';
import { sameBytes } from './merkle.ts';
import { parseVerifierKey, type NoteKey } from './note.ts';
import type { Problem } from './problem.ts';
import { keyPath, latestPath, listPath } from './signed-checkpoints.ts';

/** At `size` records the root has to be `root`. */
export interface Mark {
  readonly where: string;
  /** Kept outside the folder: what the folder says of itself proves nothing about it. */
  readonly outside?: true;
  readonly size: number;
  readonly root: Uint8Array;
}

/** A checkpoint note held elsewhere. */
export interface HeldNote {
  readonly where: string;
  readonly note: string;
}

/** The folder's key, or the one the caller trusts. Throws `audit.not_found` when there is no log in the folder. */
export async function readKey(files: Files, folder: string, digest: Digest, trusted: string | undefined): Promise<NoteKey> {
  const text = trusted ?? (await files.readText(keyPath(folder)));
  if (text === undefined) {
    throw new AppError('not_found', 'audit.not_found', `There is no audit log in ${folder}.`, {
      hint: 'Name the audit folder of a home; the first start of the daemon makes it.',
    });
  }
  const key = parseVerifierKey(digest, text);
  if (key === undefined)
    throw new AppError('invalid', 'audit.locked', 'The verifier key is damaged: it is not one Ed25519 key with its id.');
  return key;
}

/** Marks by ascending size. Notes that are unsigned, out of order or for another tree of the same size are problems. */
export async function collectMarks(
  deps: { readonly files: Files; readonly folder: string; readonly verifier: Verifier; readonly key: NoteKey },
  held: readonly HeldNote[],
): Promise<{ readonly marks: readonly Mark[]; readonly checkpoints: number; readonly problems: readonly Problem[] }> {
  const { files, folder, verifier, key } = deps;
  const problems: Problem[] = [];
  const marks: Mark[] = [];
  const { notes, torn } = splitNotes((await files.readText(listPath(folder))) ?? '');
  let last: Mark | undefined;
  for (const [index, note] of notes.entries()) {
    const where = `entry ${index + 1} of checkpoints.txt`;
    const mark = openCheckpoint(note, key, verifier);
    if (mark === undefined) {
      problems.push({ index: last?.size ?? 0, kind: 'checkpoint', message: `${where} is not signed by the log’s key` });
    } else if (last !== undefined && mark.size <= last.size) {
      const forked = mark.size === last.size && !sameBytes(mark.root, last.root);
      const message = forked
        ? `${where} is another log of ${mark.size} records`
        : `${where} is for ${mark.size} records, after one for ${last.size}`;
      problems.push({ index: mark.size, kind: forked ? 'forked' : 'replayed', message });
    } else {
      last = { where, size: mark.size, root: mark.root };
      marks.push(last);
    }
  }
  if (torn !== '') problems.push({ index: last?.size ?? 0, kind: 'torn_tail', message: 'checkpoints.txt ends in half an entry' });

  const latest = await files.readText(latestPath(folder));
  const latestMark = latest === undefined ? undefined : openCheckpoint(latest, key, verifier);
  if (latestMark === undefined) {
    const what = latest === undefined ? 'is missing' : 'is not signed by the log’s key';
    problems.push({ index: last?.size ?? 0, kind: 'checkpoint', message: `the file checkpoint ${what}` });
  } else {
    if (latestMark.size < (last?.size ?? 0)) {
      const message = `the file checkpoint is for ${latestMark.size} records, but one for ${last?.size} was signed: an old one was put in its place`;
      problems.push({ index: latestMark.size, kind: 'replayed', message });
    }
    marks.push({ where: 'the file checkpoint', ...latestMark });
  }
  for (const { where, note } of held) {
    const mark = openCheckpoint(note.endsWith('\n') ? note : `${note}\n`, key, verifier);
    if (mark === undefined) problems.push({ index: 0, kind: 'checkpoint', message: `${where} is not signed by the log’s key` });
    else marks.push({ where, outside: true, ...mark });
  }
  return { marks: marks.toSorted((a, b) => a.size - b.size), checkpoints: notes.length, problems };
}
