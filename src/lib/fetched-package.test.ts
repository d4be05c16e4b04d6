// What a launcher fetches, and whether that is one exact thing.
import { expect, test } from 'vitest';
import { fetchedPackage } from './fetched-package.ts';

const sha = `sha256:${'0a'.repeat(32)}`;

test.each([
  ['npx', '-y server@1.2.3', { name: 'server', version: '1.2.3' }],
  ['npx', '-y @scope/server@1.2.3-rc.1 --flag', { name: '@scope/server', version: '1.2.3-rc.1' }],
  ['uvx', 'server==0.4.1', { name: 'server', version: '0.4.1' }],
  ['uvx', '--python 3.13 server@0.4.1', { name: 'server', version: '0.4.1' }],
  ['docker', `run -i --rm -e TOKEN ghcr.io/a/b@${sha}`, { name: 'ghcr.io/a/b', version: sha }],
  ['docker', `run -i --rm ghcr.io/a/b:1.2@${sha}`, { name: 'ghcr.io/a/b:1.2', version: sha }],
])('[CATALOG-4] %s %s is pinned', (program, args, found) => {
  expect(fetchedPackage(program, args.split(' '))).toEqual(found);
});

test.each([
  ['npx', '-y server', 'server'],
  ['npx', '-y @scope/server', '@scope/server'],
  ['npx', '-y server@latest', 'server'],
  ['npx', '-y server@^1.2.3', 'server'],
  ['npx', '-y server@1', 'server'],
  ['npx', '-y server@1.2.x', 'server'],
  ['npx', '-y server@https://evil.example/x.tgz', 'server'],
  ['npx', '-y github:evil/server', 'github:evil/server'],
  ['uvx', 'server>=1.0', 'server>=1.0'],
  ['docker', 'run -i ghcr.io/a/b:1.2.3', 'ghcr.io/a/b:1.2.3'],
  ['docker', 'run -i ghcr.io/a/b@sha256:12', 'ghcr.io/a/b'],
])('[CATALOG-4] %s %s is not', (program, args, name) => {
  expect(fetchedPackage(program, args.split(' '))).toEqual({ name });
});

test.each([
  ['node', 'server.js'],
  ['sh', '-c x'],
  ['npx', '-y'],
  ['npx', '-p evil server@1.2.3'],
  ['npx', '--package=evil server@1.2.3'],
  ['npx', '-c touch server@1.2.3'],
  ['uvx', '--from evil server==1.2.3'],
  ['uvx', '--with evil server==1.2.3'],
  ['uvx', '--index-url=https://evil.example server==1.2.3'],
  ['npx', '--registry https://evil.example server@1.2.3'],
  ['docker', 'exec -it x sh'],
  ['docker', `--context evil run a@${sha}`],
])('[CATALOG-4] of %s %s nothing is said', (program, args) => {
  expect(fetchedPackage(program, args.split(' '))).toBeUndefined();
});
