// The stored subtrees of the log as C2SP tiles (c2sp.org/tlog-tiles): 256 hashes each, full ones in files, the right edge in
// memory. Derived from the records: a tile that is lost is a loss of speed, not of evidence.
import type { Files } from '../../kernel/ports.ts';
import { createFrontier, type NodeListener, type TreeHash } from './merkle.ts';
import type { NodeReader } from './proof.ts';

export const tileWidth = 256;
const tileHeight = 8;
const hashBytes = 32;
export const tileBytes = tileWidth * hashBytes;

/** `tile/<L>/<N>[.p/<W>]`; `level` may also be `entries`. */
export function tilePath(level: number | 'entries', tile: number, width: number = tileWidth): string {
  const groups = [String(tile % 1000).padStart(3, '0')];
  for (let rest = Math.floor(tile / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`);
  }
  return `tile/${level}/${groups.join('/')}${width < tileWidth ? `.p/${width}` : ''}`;
}

export function hashAt(tile: Uint8Array, index: number): Uint8Array {
  return tile.subarray(index * hashBytes, (index + 1) * hashBytes);
}

/** The hashes of the partial tile of each level, concatenated; level 0 first. */
export type Edge = readonly Uint8Array[];

export interface Tiles {
  /** Pass to `Frontier.push`. */
  readonly completed: NodeListener;
  edge(): Edge;
  /** A full tile, or the first hashes of the one at the edge; throws RangeError when the tile is missing or cut. */
  readonly read: (level: number, tile: number) => Promise<Uint8Array>;
  readonly node: NodeReader;
  /** Writes the full tiles that are only in memory; a failed one stays for the next call. */
  flush(): Promise<void>;
}

export interface TilesDeps {
  readonly files: Files;
  readonly folder: string;
  readonly tree: TreeHash;
  readonly edge?: Edge;
  /** Tiles below this size were on disk before and are evidence: they are not written over. */
  readonly keepBelow?: number;
}

/** A frontier in the state that an edge describes. Throws RangeError when the bytes cannot be one. */
export function frontierOf(tree: TreeHash, edge: Edge): ReturnType<typeof createFrontier> {
  const frontier = createFrontier(tree);
  for (const [level, hashes] of [...edge.entries()].reverse()) {
    if (hashes.length % hashBytes !== 0 || hashes.length >= tileBytes) throw new RangeError('not the edge of a tiled tree');
    for (let index = 0; index * hashBytes < hashes.length; index += 1) frontier.push(hashAt(hashes, index), level * tileHeight);
  }
  return frontier;
}

export function createTiles({ files, folder, tree, edge = [], keepBelow = 0 }: TilesDeps): Tiles {
  const levels: { full: number; width: number; hashes: Uint8Array }[] = [];
  const unwritten = new Map<string, Uint8Array>();
  const keep = new Set<string>();

  function at(level: number): { full: number; width: number; hashes: Uint8Array } {
    return (levels[level] ??= { full: 0, width: 0, hashes: new Uint8Array(tileBytes) });
  }
  let above = 0;
  for (const [level, hashes] of [...edge.entries()].reverse()) {
    const state = at(level);
    state.hashes.set(hashes);
    state.width = hashes.length / hashBytes;
    state.full = above;
    // Every hash at this level stands for one full tile of the level below.
    above = above * tileWidth + state.width;
  }

  async function read(level: number, tile: number): Promise<Uint8Array> {
    const state = at(level);
    if (tile === state.full) return state.hashes.slice(0, state.width * hashBytes);
    const path = tilePath(level, tile);
    const bytes = unwritten.get(path) ?? (await files.readBytes(`${folder}/${path}`));
    if (bytes?.length !== tileBytes) throw new RangeError(`${path} is missing or has not ${tileBytes} bytes`);
    return bytes;
  }

  return {
    read,
    completed(height, hash) {
      if (height % tileHeight !== 0) return;
      const level = height / tileHeight;
      const state = at(level);
      state.hashes.set(hash, state.width * hashBytes);
      state.width += 1;
      if (state.width < tileWidth) return;
      const path = tilePath(level, state.full);
      unwritten.set(path, state.hashes);
      if ((state.full + 1) * tileWidth ** (level + 1) <= keepBelow) keep.add(path);
      levels[level] = { full: state.full + 1, width: 0, hashes: new Uint8Array(tileBytes) };
    },
    edge: () => levels.map(({ hashes, width }) => hashes.slice(0, width * hashBytes)),
    async node(height, index) {
      const level = Math.floor(height / tileHeight);
      const width = 2 ** (height % tileHeight);
      const tile = await read(level, Math.floor((index * width) / tileWidth));
      const start = (index * width) % tileWidth;
      if ((start + width) * hashBytes > tile.length) throw new RangeError(`no subtree of height ${height} at ${index}`);
      const subtree = createFrontier(tree);
      for (let offset = 0; offset < width; offset += 1) subtree.push(hashAt(tile, start + offset));
      return subtree.root();
    },
    async flush() {
      for (const [path, bytes] of unwritten) {
        const target = `${folder}/${path}`;
        if (!keep.has(path) || (await files.size(target)) === undefined) await files.writeAtomic(target, bytes);
        unwritten.delete(path);
        keep.delete(path);
      }
    },
  };
}
