// What the running log offers to those who check it: signed state, stored subtrees, and the salt of one record at a time.
import type { Digest, Verifier } from '../../kernel/ports.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { TreeHash } from './merkle.ts';
import type { NoteKey } from './note.ts';
import type { NodeReader } from './proof.ts';

export interface Evidence {
  readonly folder: string;
  readonly key: NoteKey;
  readonly tree: TreeHash;
  readonly digest: Digest;
  readonly verifier: Verifier;
  readonly node: NodeReader;
  /** A full tile, or the hashes so far of the one at the edge. */
  readonly tile: (level: number, tile: number) => Promise<Uint8Array>;
  /** The newest checkpoint note that the database remembers. */
  readonly anchor: () => Promise<string | undefined>;
  /** Signs what is not signed yet and brings every file up to date. While the log is down: the last checkpoint there is. */
  readonly settle: () => Promise<Checkpoint>;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly saltOf: (id: string) => Uint8Array;
}
