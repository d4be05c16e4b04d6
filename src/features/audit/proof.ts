// Inclusion and consistency proofs of RFC 6962 §2.1.1–2.1.2, made from stored subtrees and checked by the algorithms of
// RFC 9162 §2.1.3.2 and §2.1.4.2. Pure; sizes up to 2^53, so no bit operators.
import { sameBytes, type TreeHash } from './merkle.ts';

/** The hash of the complete subtree over the leaves [index·2^height, (index+1)·2^height). */
export type NodeReader = (height: number, index: number) => Promise<Uint8Array>;

/** The largest power of two below `size`; size > 1. */
function split(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** The root of the tree over the leaves [start, start+size). */
export async function rangeRoot(tree: TreeHash, node: NodeReader, start: number, size: number): Promise<Uint8Array> {
  if (size === 0) return tree.empty();
  if (Number.isInteger(Math.log2(size)) && start % size === 0) return node(Math.log2(size), start / size);
  const half = split(size);
  return tree.node(await rangeRoot(tree, node, start, half), await rangeRoot(tree, node, start + half, size - half));
}

/** PATH(index, D[size]): from the leaf's sibling up to the root's child. Throws RangeError unless index < size. */
export async function inclusionProof(tree: TreeHash, node: NodeReader, index: number, size: number): Promise<Uint8Array[]> {
  if (!(index >= 0 && index < size)) throw new RangeError(`no leaf ${index} in a tree of ${size}`);
  const path: Uint8Array[] = [];
  let start = 0;
  let width = size;
  while (width > 1) {
    const half = split(width);
    if (index < start + half) {
      path.push(await rangeRoot(tree, node, start + half, width - half));
      width = half;
    } else {
      path.push(await rangeRoot(tree, node, start, half));
      start += half;
      width -= half;
    }
  }
  return path.reverse();
}

/** PROOF(older, D[size]). Empty when the sizes are equal or the older tree was empty. */
export async function consistencyProof(tree: TreeHash, node: NodeReader, older: number, size: number): Promise<Uint8Array[]> {
  if (!(older >= 0 && older <= size)) throw new RangeError(`a tree of ${older} is not older than one of ${size}`);
  if (older === 0 || older === size) return [];
  const path: Uint8Array[] = [];
  let start = 0;
  let width = size;
  while (start + width !== older) {
    const half = split(width);
    if (older <= start + half) {
      path.push(await rangeRoot(tree, node, start + half, width - half));
      width = half;
    } else {
      path.push(await rangeRoot(tree, node, start, half));
      start += half;
      width -= half;
    }
  }
  // A left edge that is the whole older tree is known to the verifier and left out.
  if (start > 0) path.push(await rangeRoot(tree, node, start, width));
  return path.reverse();
}

const odd = (value: number): boolean => value % 2 === 1;
const shift = (value: number): number => Math.floor(value / 2);

/** True when `proof` leads from this leaf at this index to this root. */
export function verifyInclusion(
  tree: TreeHash,
  claim: { readonly index: number; readonly size: number; readonly leaf: Uint8Array; readonly root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (!(claim.index >= 0 && claim.index < claim.size)) return false;
  let fn = claim.index;
  let sn = claim.size - 1;
  let root = claim.leaf;
  for (const hash of proof) {
    if (sn === 0) return false;
    if (odd(fn) || fn === sn) {
      root = tree.node(hash, root);
      while (!odd(fn) && fn !== 0) {
        fn = shift(fn);
        sn = shift(sn);
      }
    } else {
      root = tree.node(root, hash);
    }
    fn = shift(fn);
    sn = shift(sn);
  }
  return sn === 0 && sameBytes(root, claim.root);
}

interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** True when `proof` shows that the newer tree only appended to the older one. */
export function verifyConsistency(tree: TreeHash, older: TreeHead, newer: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (older.size > newer.size) return false;
  if (older.size === newer.size) return proof.length === 0 && sameBytes(older.root, newer.root);
  if (older.size === 0) return proof.length === 0 && sameBytes(older.root, tree.empty());
  const path = Number.isInteger(Math.log2(older.size)) ? [older.root, ...proof] : [...proof];
  const first = path.shift();
  if (first === undefined) return false;
  let fn = older.size - 1;
  let sn = newer.size - 1;
  while (odd(fn)) {
    fn = shift(fn);
    sn = shift(sn);
  }
  let oldRoot = first;
  let newRoot = first;
  for (const hash of path) {
    if (sn === 0) return false;
    if (odd(fn) || fn === sn) {
      oldRoot = tree.node(hash, oldRoot);
      newRoot = tree.node(hash, newRoot);
      while (!odd(fn) && fn !== 0) {
        fn = shift(fn);
        sn = shift(sn);
      }
    } else {
      newRoot = tree.node(newRoot, hash);
    }
    fn = shift(fn);
    sn = shift(sn);
  }
  return sn === 0 && sameBytes(oldRoot, older.root) && sameBytes(newRoot, newer.root);
}
