// Which checkpoint the log has to live up to: the newest of all that were signed and kept. Refuses what this log's key did not sign.
import { AppError } from '../../kernel/errors.ts';
import type { Files, Verifier } from '../../kernel/ports.ts';
import { openCheckpoint, splitNotes, type Checkpoint } from './checkpoint.ts';
import { sameBytes } from './merkle.ts';
import type { NoteKey } from './note.ts';

export const listPath = (folder: string): string => `${folder}/checkpoints.txt`;
export const latestPath = (folder: string): string => `${folder}/checkpoint`;
export const keyPath = (folder: string): string => `${folder}/log.vkey`;

/** What was found on disk contradicts what was signed: nothing may be recorded on top of it. */
export function locked(found: string, data: Readonly<Record<string, unknown>> = {}): AppError {
  return new AppError('unavailable', 'audit.locked', `The audit log is locked: ${found}`, {
    hint: 'Look with `sallyport audit verify`. Put the audit folder back from a backup that is newer than its last checkpoint; keep what you found as evidence.',
    data,
  });
}

const tailBytes = 1 << 16;

async function lastOfList(files: Files, path: string, key: NoteKey, verifier: Verifier): Promise<Checkpoint | undefined> {
  const size = (await files.size(path)) ?? 0;
  const offset = Math.max(0, size - tailBytes);
  const bytes = (await files.readBytes(path, { offset, length: size - offset })) ?? new Uint8Array(0);
  const { notes, torn } = splitNotes(new TextDecoder().decode(bytes));
  if (torn !== '') {
    // Nobody was told of a note that was not written whole.
    const list = files.openAppend(path);
    list.truncate(size - new TextEncoder().encode(torn).length);
    list.close();
  }
  const note = notes.at(-1);
  if (note === undefined) return undefined;
  const checkpoint = openCheckpoint(note, key, verifier);
  if (checkpoint === undefined) throw locked('the last entry of checkpoints.txt is not signed by this log’s key.');
  return checkpoint;
}

/**
 * The newest signed checkpoint, `undefined` in a new folder. Throws `audit.locked` when the list was cut, replaced or forked
 * against the other places that remember a checkpoint.
 */
export async function lastSigned(
  deps: { readonly files: Files; readonly folder: string; readonly key: NoteKey; readonly verifier: Verifier },
  remembered: readonly { readonly where: string; readonly checkpoint: Checkpoint }[],
): Promise<Checkpoint | undefined> {
  const { files, folder, key, verifier } = deps;
  const last = await lastOfList(files, listPath(folder), key, verifier);
  const others = [...remembered];
  const latest = await files.readText(latestPath(folder));
  if (latest !== undefined) {
    const checkpoint = openCheckpoint(latest, key, verifier);
    if (checkpoint === undefined) throw locked('the file `checkpoint` is not signed by this log’s key.');
    others.push({ where: 'the file `checkpoint`', checkpoint });
  }
  for (const { where, checkpoint } of others) {
    if (last === undefined || last.size < checkpoint.size) {
      const found = `checkpoints.txt ends at ${last?.size ?? 0} records, but ${where} was signed for ${checkpoint.size}: an older copy was put in its place, or it was cut.`;
      throw locked(found, { listed: last?.size ?? 0, remembered: checkpoint.size });
    }
    if (last.size === checkpoint.size && !sameBytes(last.root, checkpoint.root)) {
      throw locked(`checkpoints.txt and ${where} hold two different logs of ${last.size} records: the log was forked.`);
    }
  }
  return last;
}
