// The stock servers and clients of test/interop/ stand apart: pinned, with a lock of their own, and told of when they cannot be had.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { installIn, missingIn, pinnedIn } from '../scripts/pinned-packages.ts';

const folder = fileURLToPath(new URL('interop', import.meta.url));

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly integrity?: string; readonly resolved?: string }>
  >;
}

test('[INTEROP-2] the stock servers are pinned exactly, each in the lock with its digest, without the place it came from', () => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;
  const pinned = Object.entries(pinnedIn(folder));
  expect(pinned.length).toBeGreaterThanOrEqual(15);
  for (const [name, version] of pinned) expect(packages[`node_modules/${name}`]?.version).toBe(version);
  const outside = Object.entries(packages).filter(([path]) => path !== '');
  expect(outside.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
  expect(outside.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});

test('[INTEROP-2] packages that cannot be installed are named with the reason, never passed over', () => {
  const place = mkdtempSync(join(tmpdir(), 'pinned-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  writeFileSync(join(place, 'package.json'), '{"dependencies":{"no-such-server":"1.2.3"}}');
  expect(missingIn(place)).toEqual(['no-such-server']);
  expect(installIn(place)).toMatch(/^no-such-server not installed; npm ci ended with 1: code EUSAGE .*`npm ci`/);
});
