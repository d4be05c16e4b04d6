import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultyFiles } from '../../../test/support/faulty-files.ts';
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
  const count = (level: number): number => fs.statSync(join(folder, 'tiles', String(level))).size / 8_192;
  expect([count(0), count(1)]).toEqual([273, 1]);
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
  fs.truncateSync(join(folder, 'tiles/0'), 100);
  await expect(tiles.node(0, 3)).rejects.toThrow(/^tile 0 of .*tiles\/0 is missing or has not 8192 bytes$/);
  await expect(tiles.node(0, 300)).rejects.toThrow(RangeError);
  expect(() => frontierOf(tree, [new Uint8Array(33)])).toThrow(RangeError);
});

it('a tile that a signed tree stands on is not written over; one behind it, or half of one, gives way', async () => {
  const folder = scratch();
  const grow = async (from: number, keepBelow: number): Promise<Uint8Array[]> => {
    const tiles = createTiles({ files: createFiles(), folder, tree, keepBelow });
    const frontier = createFrontier(tree);
    for (let n = 0; n < 800; n += 1) frontier.push(leafOf(n + from), 0, tiles.completed);
    await tiles.flush();
    tiles.close();
    const bytes = fs.readFileSync(join(folder, 'tiles/0'));
    return [0, 256, 512].map((index) => Uint8Array.from(hashAt(bytes, index)));
  };
  expect(await grow(0, 0)).toEqual([leafOf(0), leafOf(256), leafOf(512)].map((leaf) => Uint8Array.from(leaf)));
  fs.truncateSync(join(folder, 'tiles/0'), 8_192 * 3 - 1);
  expect(await grow(1_000, 800)).toEqual([leafOf(0), leafOf(256), leafOf(1_512)].map((leaf) => Uint8Array.from(leaf)));
  expect(await grow(2_000, 511)).toEqual([leafOf(0), leafOf(2_256), leafOf(2_512)].map((leaf) => Uint8Array.from(leaf)));
});

it('a tile whose sync failed is written again, once', async () => {
  const folder = scratch();
  const files = createFaultyFiles();
  const tiles = createTiles({ files, folder, tree });
  const frontier = createFrontier(tree);
  const grow = (to: number): void => {
    while (frontier.size < to) frontier.push(leafOf(frontier.size), 0, tiles.completed);
  };
  grow(300);
  files.deaf = true;
  await expect(tiles.flush()).rejects.toThrow(/EIO/);
  grow(600);
  files.deaf = false;
  await tiles.flush();
  await tiles.flush();
  expect(fs.statSync(join(folder, 'tiles/0')).size).toBe(2 * 8_192);
  for (const index of [0, 1])
    expect(Buffer.from(hashAt(await tiles.read(0, index), 7))).toEqual(Buffer.from(leafOf(index * 256 + 7)));
});
