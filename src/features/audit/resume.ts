// Where the last start may go on reading, so that a start costs the same for every size of log. A hint, never evidence: it counts
// only when its tree is the one under the signed checkpoint it carries.
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts';
import type { Verifier } from '../../kernel/ports.ts';
import { openCheckpoint, type Checkpoint } from './checkpoint.ts';
import { sameBytes, type TreeHash } from './merkle.ts';
import type { NoteKey } from './note.ts';
import type { Position } from './segments.ts';
import { frontierOf, type Edge } from './tiles.ts';

/** The state of the log just behind the last record of `checkpoint`. */
export interface Resume {
  readonly checkpoint: Checkpoint;
  readonly edge: Edge;
  readonly position: Position;
  /** The time of the last record, milliseconds since the Unix epoch. */
  readonly time: number;
  /** Intents without an outcome: id → actor. */
  readonly openIntents: ReadonlyMap<string, string>;
  /** Records whose row still stands in the outbox. */
  readonly outstanding: readonly string[];
}

export function resumePath(folder: string): string {
  return `${folder}/resume.json`;
}

export function formatResume(resume: Resume): string {
  const { checkpoint, edge, position, time, openIntents, outstanding } = resume;
  const shape = {
    v: 1,
    note: checkpoint.note,
    edge: edge.map(encodeBase64),
    position,
    time,
    openIntents: [...openIntents],
    outstanding,
  };
  return `${JSON.stringify(shape)}\n`;
}

interface Shape {
  readonly v: number;
  readonly note: string;
  readonly edge: readonly string[];
  readonly position: Position;
  readonly time: number;
  readonly openIntents: readonly (readonly [string, string])[];
  readonly outstanding: readonly string[];
}

function isShape(value: unknown): value is Shape {
  const { v, note, edge, position, time, openIntents, outstanding } = (value ?? {}) as Partial<Record<keyof Shape, unknown>>;
  const texts = (list: unknown): boolean => Array.isArray(list) && list.every((one) => typeof one === 'string');
  const { segment, offset } = (position ?? {}) as Partial<Record<keyof Position, unknown>>;
  return (
    v === 1 &&
    typeof note === 'string' &&
    texts(edge) &&
    [segment, offset, time].every(Number.isSafeInteger) &&
    Array.isArray(openIntents) &&
    openIntents.every((pair) => texts(pair) && (pair as unknown[]).length === 2) &&
    texts(outstanding)
  );
}

/** `undefined` when there is nothing to trust in it; then the whole log is read. */
export function parseResume(text: string, key: NoteKey, verifier: Verifier, tree: TreeHash): Resume | undefined {
  try {
    const shape = JSON.parse(text) as unknown;
    if (!isShape(shape)) return undefined;
    const checkpoint = openCheckpoint(shape.note, key, verifier);
    const edge = shape.edge.map((level) => decodeBase64(level) ?? new Uint8Array(1));
    const frontier = frontierOf(tree, edge);
    if (checkpoint?.size !== frontier.size || !sameBytes(checkpoint.root, frontier.root())) return undefined;
    const { position, time, openIntents, outstanding } = shape;
    return { checkpoint, edge, position, time, openIntents: new Map(openIntents), outstanding };
  } catch {
    return undefined;
  }
}
