// What the running log offers to those who check it: signed state, stored subtrees, and the salt of one record at a time.
import type { Checkpoint } from './checkpoint.ts';
import type { TreeHash } from './merkle.ts';
import type { NoteKey } from './note.ts';
import type { NodeReader } from './proof.ts';

export interface Evidence {
  readonly folder: string;
  readonly key: NoteKey;
  readonly tree: TreeHash;
  readonly node: NodeReader;
  /** Signs what is not signed yet and brings every file up to date. While the log is down: the last checkpoint there is. */
  settle(): Promise<Checkpoint>;
  saltOf(id: string): Uint8Array;
}
