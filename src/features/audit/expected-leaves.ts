// The leaf hashes that were stored when records were written: full tiles, and the edge in the resume hint. Where a record does not
// fit them, they say which one and how.
import { decodeBase64 } from '../../lib/base64.ts';
import type { Files } from '../../kernel/ports.ts';
import { resumePath } from './resume.ts';
import { hashAt, levelPath, tileBytes, tileRange, tileWidth } from './tiles.ts';

export interface ExpectedLeaves {
  /** Tiles are complete up to here; behind it there may be none yet. */
  readonly covered: number;
  /** `undefined` where no stored hash is known. */
  leaf(index: number): Promise<Uint8Array | undefined>;
  /** Any hash of a full tile; `undefined` when there is no such full tile. */
  hash(level: number, index: number): Promise<Uint8Array | undefined>;
}

interface Hint {
  readonly full: number;
  readonly edge: Uint8Array;
}

/** The level 0 edge as written, unchecked: what it says is held against signed checkpoints by the caller. */
async function readHint(files: Files, folder: string): Promise<Hint> {
  try {
    const { edge } = JSON.parse((await files.readText(resumePath(folder))) ?? '') as { edge: string[] };
    const widths = edge.map((level) => (decodeBase64(level)?.length ?? 0) / 32);
    const full = widths.slice(1).reduceRight((above, width) => above * tileWidth + width, 0);
    return { full, edge: decodeBase64(edge[0] ?? '') ?? new Uint8Array(0) };
  } catch {
    return { full: 0, edge: new Uint8Array(0) };
  }
}

export async function openExpectedLeaves(files: Files, folder: string): Promise<ExpectedLeaves> {
  const hint = await readHint(files, folder);
  const held = new Map<number, { readonly tile: number; readonly bytes: Uint8Array | undefined }>();

  async function hash(level: number, index: number): Promise<Uint8Array | undefined> {
    const tile = Math.floor(index / tileWidth);
    let now = held.get(level);
    if (now?.tile !== tile) {
      const bytes = await files.readBytes(levelPath(folder, level), tileRange(tile));
      held.set(level, (now = { tile, bytes: bytes?.length === tileBytes ? bytes : undefined }));
    }
    return now.bytes && hashAt(now.bytes, index % tileWidth);
  }

  return {
    covered: hint.full * tileWidth,
    hash,
    async leaf(index) {
      const stored = await hash(0, index);
      if (stored !== undefined) return stored;
      const offset = index - hint.full * tileWidth;
      return offset >= 0 && (offset + 1) * 32 <= hint.edge.length ? hashAt(hint.edge, offset) : undefined;
    },
  };
}
