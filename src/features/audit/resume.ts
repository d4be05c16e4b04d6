// Where the next start may go on reading, so that a start costs the same for every size of log. A hint, never evidence: it counts
// only when this installation wrote it, its tree is the one under the signed checkpoint it carries, and its last record is there.
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts';
import type { Digest, Files, Verifier } from '../../kernel/ports.ts';
import { openCheckpoint, type Checkpoint } from './checkpoint.ts';
import { sameBytes, type TreeHash } from './merkle.ts';
import type { NoteKey } from './note.ts';
import { segmentPath, splitFrames } from './scan.ts';
import type { Position } from './segments.ts';
import { frontierOf, fullTiles, levelPath, tileBytes, type Edge } from './tiles.ts';

/** The state of the log just behind the last record of `checkpoint`. */
export interface Resume {
  readonly checkpoint: Checkpoint;
  readonly edge: Edge;
  readonly position: Position;
  /** The last record: bytes of its frame, and its leaf hash. */
  readonly last: { readonly bytes: number; readonly leaf: Uint8Array };
  /** The time of the last record, milliseconds since the Unix epoch. */
  readonly time: number;
  /** Intents without an outcome: id → actor. */
  readonly openIntents: ReadonlyMap<string, string>;
  /** Records whose row still stands in the outbox. */
  readonly outstanding: readonly string[];
  /** The newest seal of rights on the record. */
  readonly rights: string | undefined;
}

export function resumePath(folder: string): string {
  return `${folder}/resume.json`;
}

/** Over the text of a hint, under a key that is in no backup of the folder. */
export type ResumeSeal = (text: string) => string;

export function createResumeSeal(digest: Digest, key: Uint8Array): ResumeSeal {
  return (text) => encodeBase64(digest.hmacSha256(key, `sallyport resume hint v1\n${text}`));
}

interface Shape {
  readonly v: 1;
  readonly note: string;
  readonly edge: readonly string[];
  readonly position: Position;
  readonly last: { readonly bytes: number; readonly leaf: string };
  readonly time: number;
  readonly openIntents: readonly (readonly [string, string])[];
  readonly outstanding: readonly string[];
  readonly rights?: string;
}

export function formatResume(resume: Resume, seal: ResumeSeal): string {
  const { checkpoint, edge, position, last, time, openIntents, outstanding, rights } = resume;
  const shape: Shape = {
    v: 1,
    note: checkpoint.note,
    edge: edge.map(encodeBase64),
    position,
    last: { ...last, leaf: encodeBase64(last.leaf) },
    time,
    openIntents: [...openIntents],
    outstanding,
    ...(rights !== undefined && { rights }),
  };
  return `${JSON.stringify({ ...shape, seal: seal(JSON.stringify(shape)) })}\n`;
}

export interface ResumeDeps {
  readonly files: Files;
  readonly folder: string;
  readonly key: NoteKey;
  readonly verifier: Verifier;
  readonly tree: TreeHash;
  readonly seal: ResumeSeal;
}

function parseResume(text: string, { key, verifier, tree, seal }: ResumeDeps): Resume | undefined {
  try {
    const { seal: sealed, ...rest } = JSON.parse(text) as Shape & { readonly seal: string };
    // What carries our seal has the shape that formatResume gave it.
    if (sealed !== seal(JSON.stringify(rest))) return undefined;
    const checkpoint = openCheckpoint(rest.note, key, verifier);
    const edge = rest.edge.map((level) => decodeBase64(level) ?? new Uint8Array(1));
    const leaf = decodeBase64(rest.last.leaf);
    const frontier = frontierOf(tree, edge);
    if (checkpoint?.size !== frontier.size || !sameBytes(checkpoint.root, frontier.root()) || leaf === undefined) return undefined;
    const { rights } = rest;
    return { ...rest, checkpoint, edge, last: { ...rest.last, leaf }, openIntents: new Map(rest.openIntents), rights };
  } catch {
    return undefined;
  }
}

/** Whether every tile is there that the state of the hint no longer holds. */
async function hasTiles({ files, folder }: ResumeDeps, { checkpoint, edge }: Resume): Promise<boolean> {
  for (const level of edge.keys()) {
    const full = fullTiles(level, checkpoint.size);
    if (full > 0 && ((await files.size(levelPath(folder, level))) ?? 0) < full * tileBytes) return false;
  }
  return true;
}

/** `undefined` when there is none to trust; then the whole log is read. */
export async function readResume(deps: ResumeDeps): Promise<Resume | undefined> {
  const { files, folder, tree } = deps;
  const resume = parseResume((await files.readText(resumePath(folder))) ?? '', deps);
  if (resume === undefined || !(await hasTiles(deps, resume))) return undefined;
  const { position, last } = resume;
  const range = { offset: position.offset - last.bytes, length: last.bytes };
  const [record] = splitFrames((await files.readBytes(segmentPath(folder, position.segment), range)) ?? new Uint8Array(0)).records;
  return record !== undefined && sameBytes(tree.leaf(record), last.leaf) ? resume : undefined;
}
