import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlacedFiles } from './placed-files.ts';

let root: string;
let home: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'placed-files-'));
  home = join(root, 'home');
  mkdirSync(home);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

test('[FILE-3] W5: a folder that is exchanged for a link to the home again and again never lets a byte into it', async () => {
  const files = createPlacedFiles({ forbidden: [home] });
  writeFileSync(join(home, 'policies.yaml'), 'mine');
  const [folder, aside] = [join(root, 'folder'), join(root, 'aside')];
  mkdirSync(folder);
  const stop = new AbortController();
  const swaps = (async () => {
    while (!stop.signal.aborted) {
      renameSync(folder, aside);
      symlinkSync(home, folder);
      await setImmediate();
      rmSync(folder);
      renameSync(aside, folder);
      await setImmediate();
    }
  })();
  const ends = { written: 0, refused: 0 };
  for (let round = 0; round < 300; round += 1) {
    await files.replace(join(folder, 'policies.yaml'), bytes('stolen'), { mostBytes: 1_024 }).then(
      () => (ends.written += 1),
      (thrown: { code?: string }) => {
        expect(thrown.code).toMatch(/^placements\.(unsafe_place|failed)$/);
        ends.refused += 1;
      },
    );
  }
  stop.abort();
  await swaps;
  expect(readFileSync(join(home, 'policies.yaml'), 'utf8')).toBe('mine');
  expect(readdirSync(home)).toEqual(['policies.yaml']);
  expect(ends.refused).toBeGreaterThan(0);
});

test('[FILE-3] the home is refused by whatever path it is reached, and a file that changed is not replaced', async () => {
  const files = createPlacedFiles({ forbidden: [home] });
  mkdirSync(join(home, 'keys'));
  await expect(files.replace(join(home, 'keys', 'x'), bytes('x'), { mostBytes: 9 })).rejects.toMatchObject({
    code: 'placements.unsafe_place',
  });
  // The same folder under a name that is not on the list.
  const other = createPlacedFiles({ forbidden: [join(root, 'alias')] });
  symlinkSync(home, join(root, 'alias'));
  await expect(other.replace(join(home, 'x'), bytes('x'), { mostBytes: 9 })).rejects.toMatchObject({
    code: 'placements.unsafe_place',
  });

  const path = join(root, 'file');
  writeFileSync(path, 'one');
  const how = { mostBytes: 9, expected: sha('two'), backup: `${path}.bak` };
  await expect(files.replace(path, bytes('new'), how)).rejects.toMatchObject({ code: 'placements.changed' });
  await expect(files.replace(path, bytes('new'), { ...how, expected: undefined })).rejects.toMatchObject({
    code: 'placements.changed',
  });
  expect(readFileSync(path, 'utf8')).toBe('one');
  expect(existsSync(`${path}.bak`)).toBe(false);
});

test('[FILE-1] what a killed write left behind is gone after the next one, and modes are 0600 whatever was there', async () => {
  const files = createPlacedFiles({ forbidden: [home] });
  const path = join(root, 'file');
  writeFileSync(path, 'one', { mode: 0o644 });
  writeFileSync(join(root, '.file.0123456789ab.tmp'), 'half a secret');
  await files.replace(path, bytes('new'), { mostBytes: 9, expected: sha('one'), backup: `${path}.bak` });
  expect(readdirSync(root).sort()).toEqual(['file', 'file.bak', 'home']);
  for (const name of ['file', 'file.bak']) expect(statSync(join(root, name)).mode & 0o777).toBe(0o600);
  await expect(files.read(path, 2)).rejects.toMatchObject({ code: 'placements.unsafe_place' });
});
