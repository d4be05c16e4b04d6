// The Merkle tree of RFC 6962 §2.1 as a frontier: the few hashes a growing tree needs. The hash function is passed in; knows
// nothing of records, files or keys.

export type Sha256 = (data: Uint8Array) => Uint8Array;

export interface TreeHash {
  /** SHA-256(0x00 ‖ entry). */
  leaf(entry: Uint8Array): Uint8Array;
  /** SHA-256(0x01 ‖ left ‖ right). */
  node(left: Uint8Array, right: Uint8Array): Uint8Array;
  /** The root of a tree without leaves: SHA-256 of nothing. */
  empty(): Uint8Array;
}

export function createTreeHash(sha256: Sha256): TreeHash {
  const pair = new Uint8Array(65);
  pair[0] = 1;
  return {
    leaf(entry) {
      const prefixed = new Uint8Array(entry.length + 1);
      prefixed.set(entry, 1);
      return sha256(prefixed);
    },
    node(left, right) {
      pair.set(left, 1);
      pair.set(right, 33);
      return sha256(pair);
    },
    empty: () => sha256(new Uint8Array(0)),
  };
}

/** Told of every complete subtree as it closes: 2^height leaves under `hash`, heights 0, 1, 2 … */
export type NodeListener = (height: number, hash: Uint8Array) => void;

export interface Frontier {
  readonly size: number;
  /** Adds a complete subtree of 2^height leaves, a leaf by default; the size so far must be a multiple of 2^height. */
  push(hash: Uint8Array, height?: number, completed?: NodeListener): void;
  root(): Uint8Array;
  clone(): Frontier;
}

interface Peak {
  readonly height: number;
  readonly hash: Uint8Array;
}

export function createFrontier(tree: TreeHash, peaks: readonly Peak[] = [], leaves = 0): Frontier {
  const stack = [...peaks];
  let size = leaves;
  return {
    get size() {
      return size;
    },
    push(hash, height = 0, completed) {
      if (size % 2 ** height !== 0) throw new RangeError(`a subtree of height ${height} cannot stand at leaf ${size}`);
      size += 2 ** height;
      let peak: Peak = { height, hash };
      completed?.(height, hash);
      for (let left = stack.at(-1); left?.height === peak.height; left = stack.at(-1)) {
        stack.pop();
        peak = { height: peak.height + 1, hash: tree.node(left.hash, peak.hash) };
        completed?.(peak.height, peak.hash);
      }
      stack.push(peak);
    },
    root() {
      let root: Uint8Array | undefined;
      for (const { hash } of stack.toReversed()) root = root === undefined ? hash : tree.node(hash, root);
      return root ?? tree.empty();
    },
    clone: () => createFrontier(tree, stack, size),
  };
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
