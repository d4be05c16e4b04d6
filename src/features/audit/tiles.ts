// The stored subtrees of the log as C2SP tiles (c2sp.org/tlog-tiles): 256 hashes each, the full ones of a level one behind the other in
// a file, the right edge in memory. Derived from the records: a tile that is lost is a loss of speed, not of evidence.
import type { AppendFile, Files } from '../../kernel/ports.ts';
import { createFrontier, type NodeListener, type TreeHash } from './merkle.ts';
import type { NodeReader } from './proof.ts';

export const tileWidth = 256;
const tileHeight = 8;
const hashBytes = 32;
export const tileBytes = tileWidth * hashBytes;

/** The full tiles of a level, the first one first. */
export function levelPath(folder: string, level: number): string {
  return `${folder}/tiles/${level}`;
}

/** How many full tiles a level has in a tree of `size` leaves. */
export function fullTiles(level: number, size: number): number {
  return Math.floor(size / tileWidth ** (level + 1));
}

/** Where one tile stands in the file of its level. */
export function tileRange(tile: number): { readonly offset: number; readonly length: number } {
  return { offset: tile * tileBytes, length: tileBytes };
}

/** `tile/<L>/<N>[.p/<W>]` of the specification; `level` may also be `entries`. */
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
  /** Full tiles that are only in memory go to stable storage, one sync for each level; what fails stays for the next call. */
  flush(): Promise<void>;
  close(): void;
}

export interface TilesDeps {
  readonly files: Files;
  readonly folder: string;
  readonly tree: TreeHash;
  readonly edge?: Edge;
  /** Full tiles of a tree of this size that are on disk are evidence: they are not written over. Others give way. */
  readonly keepBelow?: number;
}

interface Level {
  full: number;
  width: number;
  hashes: Uint8Array;
  /** The last full ones. */
  unwritten: Uint8Array[];
  file?: AppendFile;
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
  const levels: Level[] = [];

  function at(level: number): Level {
    return (levels[level] ??= { full: 0, width: 0, hashes: new Uint8Array(tileBytes), unwritten: [] });
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
    const { full, width, hashes, unwritten } = at(level);
    if (tile === full) return hashes.slice(0, width * hashBytes);
    const path = levelPath(folder, level);
    const bytes = unwritten[tile - (full - unwritten.length)] ?? (await files.readBytes(path, tileRange(tile)));
    if (bytes?.length !== tileBytes) throw new RangeError(`tile ${tile} of ${path} is missing or has not ${tileBytes} bytes`);
    return bytes;
  }

  function open(level: number): AppendFile {
    const file = files.openAppend(levelPath(folder, level));
    const kept = Math.min(fullTiles(level, keepBelow), Math.floor(file.size / tileBytes)) * tileBytes;
    if (file.size > kept) file.truncate(kept);
    return file;
  }

  async function write(level: number, state: Level): Promise<void> {
    const tiles = [...state.unwritten];
    const first = state.full - tiles.length;
    const file = (state.file ??= open(level));
    const before = file.size;
    if (before < first * tileBytes) throw new RangeError(`${levelPath(folder, level)} ends before tile ${first}`);
    try {
      for (const tile of tiles.slice(before / tileBytes - first)) file.append(tile);
      await file.sync();
    } catch (thrown) {
      // Nobody knows what a failed sync kept: the next call writes it again.
      file.truncate(before);
      throw thrown;
    }
    state.unwritten.splice(0, tiles.length);
  }

  return {
    read,
    completed(height, hash) {
      if (height % tileHeight !== 0) return;
      const state = at(height / tileHeight);
      state.hashes.set(hash, state.width * hashBytes);
      state.width += 1;
      if (state.width < tileWidth) return;
      state.unwritten.push(state.hashes);
      state.full += 1;
      state.width = 0;
      state.hashes = new Uint8Array(tileBytes);
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
      for (const [level, state] of levels.entries()) if (state.unwritten.length > 0) await write(level, state);
    },
    close() {
      for (const { file } of levels) file?.close();
    },
  };
}
