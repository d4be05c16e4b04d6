// Which checkpoint the log has to live up to. The file `checkpoint` is written before the list, so that only somebody who put an
// older one in its place can make it the older of the two. Refuses what this log's key did not sign.
import { AppError } from '../../kernel/errors.ts';
import type { Files, Verifier } from '../../kernel/ports.ts';
import { listed, openCheckpoint, splitNotes, type Checkpoint } from './checkpoint.ts';
import { sameBytes } from './merkle.ts';
import type { NoteKey } from './note.ts';

export const listPath = (folder: string): string => `${folder}/checkpoints.txt`;
export const latestPath = (folder: string): string => `${folder}/checkpoint`;
export const keyPath = (folder: string): string => `${folder}/log.vkey`;

const putBack =
  'Look with `sallyport audit verify`. Put the audit folder back from a backup that is newer than its last checkpoint; keep what you found as evidence.';
/** For a log that is whole but not this installation's. */
export const startWithOwnKeys =
  'Start with the database and the key files this log was written with, or move the audit folder away to begin a new log.';

/** What was found contradicts what was signed, or was signed by somebody else: nothing may be recorded on top of it. */
export function locked(found: string, data: Readonly<Record<string, unknown>> = {}, hint: string = putBack): AppError {
  return new AppError('unavailable', 'audit.locked', `The audit log is locked: ${found}`, { hint, data });
}

const tailBytes = 1 << 16;
const encodedLength = (text: string): number => new TextEncoder().encode(text).length;

export interface SignedDeps {
  readonly files: Files;
  readonly folder: string;
  readonly key: NoteKey;
  readonly verifier: Verifier;
}

interface ListEnd {
  readonly last: Checkpoint | undefined;
  /** Bytes behind the last note that this key signed. */
  readonly excess: number;
}

async function endOfList({ files, folder, key, verifier }: SignedDeps): Promise<ListEnd> {
  const path = listPath(folder);
  const size = (await files.size(path)) ?? 0;
  const offset = Math.max(0, size - tailBytes);
  const bytes = (await files.readBytes(path, { offset, length: size - offset })) ?? new Uint8Array(0);
  const { notes, torn } = splitNotes(new TextDecoder().decode(bytes));
  let excess = encodedLength(torn);
  for (const note of notes.toReversed()) {
    const last = openCheckpoint(note, key, verifier);
    if (last !== undefined) return { last, excess };
    excess += encodedLength(listed(note));
  }
  return { last: undefined, excess: size };
}

/** Makes the list end in `latest`: a process can die between the two files. What was behind the last good note is kept in `torn/`. */
async function mendList({ files, folder }: SignedDeps, { last, excess }: ListEnd, latest: Checkpoint): Promise<void> {
  if (excess === 0 && last?.size === latest.size) return;
  const path = listPath(folder);
  const list = files.openAppend(path);
  try {
    if (excess > 0) {
      const bytes = await files.readBytes(path, { offset: list.size - excess, length: excess });
      await files.writeAtomic(`${folder}/torn/checkpoints-${latest.size}.txt`, bytes ?? new Uint8Array(0));
      list.truncate(list.size - excess);
    }
    if (last?.size !== latest.size) list.append(new TextEncoder().encode(listed(latest.note)));
    await list.sync();
  } finally {
    list.close();
  }
}

/**
 * The checkpoint the log has to live up to, `undefined` in a new folder. Throws `audit.locked` when it was replaced by an older or
 * another one: against the list of all that were signed, and against the other places that remember one.
 */
export async function lastSigned(
  deps: SignedDeps,
  remembered: readonly { readonly where: string; readonly checkpoint: Checkpoint }[],
): Promise<Checkpoint | undefined> {
  const { files, folder, key, verifier } = deps;
  const end = await endOfList(deps);
  const others = end.last === undefined ? remembered : [{ where: 'checkpoints.txt', checkpoint: end.last }, ...remembered];
  const note = await files.readText(latestPath(folder));
  const latest = note === undefined ? undefined : openCheckpoint(note, key, verifier);
  if (note !== undefined && latest === undefined) throw locked('the file `checkpoint` is not signed by this log’s key.');
  for (const { where, checkpoint } of others) {
    const size = latest?.size ?? 0;
    if (size < checkpoint.size) {
      const found = latest === undefined ? 'the file `checkpoint` is missing' : `the file \`checkpoint\` is for ${size} records`;
      throw locked(
        `${found}, but ${where} holds one for ${checkpoint.size}: the log was cut or an older copy was put in its place.`,
        {
          found: size,
          remembered: checkpoint.size,
        },
      );
    }
    if (latest?.size === checkpoint.size && !sameBytes(latest.root, checkpoint.root)) {
      throw locked(`the file \`checkpoint\` and ${where} hold two different logs of ${size} records: the log was forked.`);
    }
  }
  if (latest !== undefined) await mendList(deps, end, latest);
  return latest;
}
