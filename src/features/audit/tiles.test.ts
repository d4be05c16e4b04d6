import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createDigest } from '../../platform/crypto.ts';
import { createFiles } from '../../platform/files.ts';
import { createFrontier, createTreeHash } from './merkle.ts';
import { inclusionProof, rangeRoot, verifyInclusion } from './proof.ts';
import { createTiles, frontierOf, hashAt, tilePath } from './tiles.ts';

const digest = createDigest();
const tree = createTreeHash((data) => digest.sha256(data));
const leafOf = (n: number): Uint8Array => tree.leaf(new TextEncoder().encode(String(n)));

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'tiles-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

it('[AUD-1] tiles have the paths of c2sp.org/tlog-tiles', () => {
  expect(tilePath(0, 0)).toBe('tile/0/000');
  expect(tilePath(1, 1_234_067)).toBe('tile/1/x001/x234/067');
  expect(tilePath('entries', 273, 112)).toBe('tile/entries/273.p/112');
  expect(tilePath(0, 1_000)).toBe('tile/0/x001/000');
});

it('[AUD-1] a tree of 70,000 leaves has the tiles that the specification counts, and every proof comes out of them', async () => {
  const folder = scratch();
  const tiles = createTiles({ files: createFiles(), folder, tree });
  const frontier = createFrontier(tree);
  for (let n = 0; n < 70_000; n += 1) frontier.push(leafOf(n), 0, tiles.completed);
  await tiles.flush();
  const count = (path: string): number => fs.readdirSync(join(folder, path)).length;
  expect([count('tile/0'), count('tile/1')]).toEqual([273, 1]);
  expect(tiles.edge().map((level) => level.length / 32)).toEqual([112, 17, 1]);
  expect(Buffer.from(hashAt(await tiles.read(0, 2), 3))).toEqual(Buffer.from(leafOf(515)));
  const root = frontier.root();
  expect(Buffer.from(frontierOf(tree, tiles.edge()).root())).toEqual(Buffer.from(root));
  expect(Buffer.from(await rangeRoot(tree, tiles.node, 0, 70_000))).toEqual(Buffer.from(root));
  for (const index of [0, 255, 256, 65_535, 65_536, 69_887, 69_999]) {
    const proof = await inclusionProof(tree, tiles.node, index, 70_000);
    expect(verifyInclusion(tree, { index, size: 70_000, leaf: leafOf(index), root }, proof)).toBe(true);
  }
  const reopened = createTiles({ files: createFiles(), folder, tree, edge: tiles.edge() });
  expect(Buffer.from(await rangeRoot(tree, reopened.node, 0, 66_000))).toEqual(
    Buffer.from(await rangeRoot(tree, tiles.node, 0, 66_000)),
  );
});

it('a missing or cut tile is an error with its path, never a wrong hash', async () => {
  const folder = scratch();
  const tiles = createTiles({ files: createFiles(), folder, tree });
  const frontier = createFrontier(tree);
  for (let n = 0; n < 300; n += 1) frontier.push(leafOf(n), 0, tiles.completed);
  await tiles.flush();
  fs.truncateSync(join(folder, 'tile/0/000'), 100);
  await expect(tiles.node(0, 3)).rejects.toThrow('tile/0/000 is missing or has not 8192 bytes');
  await expect(tiles.node(0, 300)).rejects.toThrow(RangeError);
  expect(() => frontierOf(tree, [new Uint8Array(33)])).toThrow(RangeError);
});
