import { createHash } from 'node:crypto';
import { array, assert, asyncProperty, nat, property, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrontier, createTreeHash, type Sha256 } from './merkle.ts';
import { consistencyProof, inclusionProof, rangeRoot, verifyConsistency, verifyInclusion, type NodeReader } from './proof.ts';

const sha256: Sha256 = (data) => createHash('sha256').update(data).digest();
const tree = createTreeHash(sha256);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const raw = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

// The entries, roots and proofs that the Certificate Transparency implementations publish.
const ctEntries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(raw);
const ctRoots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const n45 = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b';
const n67 = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0';
const n03 = 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7';
const n47 = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4';
const n23 = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e';
const n01 = 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125';
const leaf1 = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7';

/** MTH by the recursive definition of RFC 6962 §2.1, apart from everything under test. */
function definition(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0) return sha256(new Uint8Array(0));
  if (entries.length === 1) return sha256(Uint8Array.from([0, ...(entries[0] as Uint8Array)]));
  let half = 1;
  while (half * 2 < entries.length) half *= 2;
  return sha256(Uint8Array.from([1, ...definition(entries.slice(0, half)), ...definition(entries.slice(half))]));
}

function nodesOf(entries: readonly Uint8Array[]): NodeReader {
  return async (height, index) => definition(entries.slice(index * 2 ** height, (index + 1) * 2 ** height));
}

function grown(entries: readonly Uint8Array[]): ReturnType<typeof createFrontier> {
  const frontier = createFrontier(tree);
  for (const entry of entries) frontier.push(tree.leaf(entry));
  return frontier;
}

const trees = array(uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 70 });

describe('RFC 6962 tree', () => {
  it('[AUD-1] gives the published Certificate Transparency roots at every size', () => {
    for (const [size, root] of ctRoots.entries()) expect(hex(grown(ctEntries.slice(0, size)).root())).toBe(root);
  });

  it('[AUD-1] gives the published inclusion proofs', async () => {
    const path = async (index: number, size: number): Promise<string[]> =>
      (await inclusionProof(tree, nodesOf(ctEntries), index, size)).map(hex);
    expect(await path(0, 1)).toEqual([]);
    expect(await path(0, 8)).toEqual([leaf1, n23, n47]);
    expect(await path(5, 8)).toEqual([n45, n67, n03]);
    expect(await path(2, 3)).toEqual([n01]);
    expect(await path(1, 5)).toEqual(['6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d', n23, n45]);
  });

  it('[AUD-1] gives the published consistency proofs', async () => {
    const path = async (older: number, size: number): Promise<string[]> =>
      (await consistencyProof(tree, nodesOf(ctEntries), older, size)).map(hex);
    expect(await path(1, 1)).toEqual([]);
    expect(await path(1, 8)).toEqual([leaf1, n23, n47]);
    expect(await path(6, 8)).toEqual(['0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a', n67, n03]);
    expect(await path(2, 5)).toEqual([n23, n45]);
  });

  it('[AUD-1] the frontier agrees with the recursive definition, from leaves and from whole subtrees', () => {
    assert(
      property(trees, nat(6), (entries, height) => {
        expect(hex(grown(entries).root())).toBe(hex(definition(entries)));
        const width = 2 ** height;
        const frontier = createFrontier(tree);
        for (let at = 0; at < entries.length; at += width) {
          const part = entries.slice(at, at + width);
          if (part.length === width) frontier.push(definition(part), height);
          else for (const entry of part) frontier.push(tree.leaf(entry));
        }
        expect(frontier.size).toBe(entries.length);
        expect(hex(frontier.root())).toBe(hex(definition(entries)));
      }),
    );
    expect(() => grown(ctEntries.slice(0, 3)).push(tree.empty(), 1)).toThrow(RangeError);
  });

  it('[AUD-1] every inclusion proof verifies, and no changed one does', async () => {
    await assert(
      asyncProperty(trees, nat(), nat(), async (entries, a, b) => {
        const size = entries.length;
        const index = a % size;
        const claim = { index, size, leaf: tree.leaf(entries[index] as Uint8Array), root: definition(entries) };
        const proof = await inclusionProof(tree, nodesOf(entries), index, size);
        expect(verifyInclusion(tree, claim, proof)).toBe(true);
        expect(verifyInclusion(tree, { ...claim, leaf: sha256(claim.leaf) }, proof)).toBe(false);
        expect(verifyInclusion(tree, { ...claim, root: sha256(claim.root) }, proof)).toBe(false);
        expect(verifyInclusion(tree, { ...claim, index: size }, proof)).toBe(false);
        expect(verifyInclusion(tree, claim, [...proof, claim.root])).toBe(false);
        const broken = proof.map((_, at) => proof.with(at, sha256(proof[b % proof.length] as Uint8Array)));
        expect([proof.slice(1), ...broken].filter((path) => size > 1 && verifyInclusion(tree, claim, path))).toEqual([]);
      }),
    );
  });

  it('[AUD-1] every consistency proof verifies, and none from a forked or later tree does', async () => {
    await assert(
      asyncProperty(trees, nat(), nat(), async (entries, a, b) => {
        const older = { size: 1 + (a % entries.length), root: definition(entries.slice(0, 1 + (a % entries.length))) };
        const newer = { size: entries.length, root: definition(entries) };
        const proof = await consistencyProof(tree, nodesOf(entries), older.size, newer.size);
        expect(verifyConsistency(tree, older, newer, proof)).toBe(true);
        expect(verifyConsistency(tree, older, { ...newer, root: sha256(newer.root) }, proof)).toBe(false);
        expect(verifyConsistency(tree, { ...older, root: sha256(older.root) }, newer, proof)).toBe(false);
        expect(verifyConsistency(tree, older, newer, [...proof, newer.root])).toBe(false);
        const broken = proof.map((_, at) => proof.with(at, sha256(proof[b % proof.length] as Uint8Array)));
        const shortened = proof.length > 0 ? [proof.slice(1)] : [];
        expect([...shortened, ...broken].filter((path) => verifyConsistency(tree, older, newer, path))).toEqual([]);
        expect(older.size < newer.size && verifyConsistency(tree, newer, older, proof)).toBe(false);
      }),
    );
  });

  it('[AUD-1] the empty tree is the start of every tree, and of nothing else than itself', () => {
    const empty = { size: 0, root: tree.empty() };
    const one = { size: 1, root: tree.leaf(new Uint8Array(0)) };
    expect(verifyConsistency(tree, empty, one, [])).toBe(true);
    expect(verifyConsistency(tree, { ...empty, root: one.root }, one, [])).toBe(false);
    expect(verifyConsistency(tree, one, empty, [])).toBe(false);
  });

  it('[AUD-1] refuses proofs for leaves and trees that do not exist', async () => {
    await expect(inclusionProof(tree, nodesOf(ctEntries), 8, 8)).rejects.toThrow(RangeError);
    await expect(consistencyProof(tree, nodesOf(ctEntries), 9, 8)).rejects.toThrow(RangeError);
    expect(hex(await rangeRoot(tree, nodesOf(ctEntries), 0, 7))).toBe(ctRoots[7]);
    expect(hex(await rangeRoot(tree, nodesOf(ctEntries), 0, 0))).toBe(ctRoots[0]);
  });
});
