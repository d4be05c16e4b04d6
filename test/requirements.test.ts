// Holds the manifest and the citations in test titles together, both ways.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { families, requirements } from './requirements.ts';

const root = new URL('..', import.meta.url).pathname;

function* testFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* testFiles(path);
    else if (entry.name.endsWith('.test.ts')) yield path;
  }
}

const cited = new Map<string, string[]>();
for (const file of [...testFiles('src'), ...testFiles('test')]) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const match of text.matchAll(/\[([A-Z]+-\d+)\]/g)) {
    const id = match[1] ?? '';
    cited.set(id, [...(cited.get(id) ?? []), file]);
  }
}

test('no id stands in two families, where one would hide the other', () => {
  const all = Object.values(families).flatMap((family) => Object.keys(family));
  expect(all.toSorted()).toEqual(Object.keys(requirements).toSorted());
});

test('every requirement is cited by a test', () => {
  const missing = Object.keys(requirements).filter((id) => !cited.has(id));
  expect(missing).toEqual([]);
});

test('every citation names a requirement', () => {
  const unknown = [...cited].filter(([id]) => !(id in requirements));
  expect(unknown).toEqual([]);
});
