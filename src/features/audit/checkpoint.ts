// C2SP checkpoints (c2sp.org/tlog-checkpoint): origin, size and root of the log under one signature, and files that list them.
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts';
import type { Signer, Verifier } from '../../kernel/ports.ts';
import { openNote, signNote, type NoteKey } from './note.ts';

export interface Checkpoint {
  readonly size: number;
  readonly root: Uint8Array;
  /** The signed note, verbatim. */
  readonly note: string;
}

export function signCheckpoint(size: number, root: Uint8Array, key: NoteKey, signer: Signer): Checkpoint {
  return { size, root, note: signNote(`${key.name}\n${size}\n${encodeBase64(root)}\n`, key, signer) };
}

/** `undefined` unless this key signed it and origin, size and root have exactly one spelling. Extension lines are refused. */
export function openCheckpoint(note: string, key: NoteKey, verifier: Verifier): Checkpoint | undefined {
  const lines = openNote(note, key, verifier)?.split('\n');
  if (lines?.length !== 4) return undefined;
  const [origin, sizeText = '', rootText = ''] = lines;
  const size = Number(sizeText);
  const root = decodeBase64(rootText);
  if (origin !== key.name || !/^(0|[1-9]\d*)$/.test(sizeText) || !Number.isSafeInteger(size) || root?.length !== 32)
    return undefined;
  return { size, root, note };
}

/** How a note stands in a list: followed by an empty line. */
export function listed(note: string): string {
  return `${note}\n`;
}

/**
 * The notes of a list in order, each verbatim. `torn` is what follows the last whole note. A damaged note stays one piece, so
 * that its neighbours are still read.
 */
export function splitNotes(list: string): { readonly notes: readonly string[]; readonly torn: string } {
  // An empty line before a signature line is inside a note; every other one ends a note.
  const pieces = list.split(/\n\n(?!— )/);
  const torn = pieces.pop() ?? '';
  return { notes: pieces.map((piece) => `${piece}\n`), torn };
}
