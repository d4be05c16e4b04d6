// The walls of the house: the checker runs over the real tree, must have seen all of it, and must bite on every planted violation.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const planted = mkdtempSync(join(tmpdir(), 'sallyport-walls-'));
afterAll(() => rmSync(planted, { recursive: true, force: true }));

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

async function cruise(folder: string): Promise<{ modules: string[]; violations: Violation[] }> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      '--config',
      join(root, '.dependency-cruiser.cjs'),
      '--output-type',
      'json',
      'src',
    ],
    { cwd: folder, maxBuffer: 64 << 20 },
  ).catch((failure: { stdout: string }) => failure);
  const result = JSON.parse(stdout) as { modules: { source: string }[]; summary: { violations: Violation[] } };
  return { modules: result.modules.map(({ source }) => source), violations: result.summary.violations };
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? sources(path) : path.endsWith('.ts') ? [path] : [];
  });
}

test('[HOUSE-1] imports run downward, and the checker saw every module', async () => {
  const { modules, violations } = await cruise(root);
  expect(violations.map(({ from, rule }) => `${rule.name}: ${from}`)).toEqual([]);
  expect(sources('src').filter((file) => !modules.includes(file))).toEqual([]);
  expect(modules.length).toBeGreaterThan(100);
}, 60_000);

const plants: [rule: string, file: string, imports: string][] = [
  ['floor-lib', 'src/lib/a.ts', '../kernel/b.ts'],
  ['floor-kernel', 'src/kernel/k.ts', '../features/audit/audit.ts'],
  ['floor-features', 'src/features/policy/f.ts', '../../platform/p.ts'],
  ['floor-wire', 'src/wire/w.ts', '../features/audit/audit.ts'],
  ['floor-platform', 'src/platform/q.ts', '../features/audit/audit.ts'],
  ['floor-faces', 'src/faces/mcp/x.ts', '../../features/gateway/gateway.ts'],
  ['slice-audit', 'src/features/audit/up.ts', '../grants/grants.ts'],
  ['slice-policy-fleet', 'src/features/policy/side.ts', '../fleet/fleet.ts'],
  ['slices-meet-at-their-face', 'src/features/gateway/deep.ts', '../grants/store.ts'],
  ['no-outside-world-in-the-middle', 'src/features/grants/io.ts', 'node:fs'],
  ['sql-lives-in-stores', 'src/features/grants/sql.ts', 'kysely'],
  ['http-framework-in-the-human-door', 'src/faces/mcp/hono.ts', 'hono'],
  ['no-sdk-in-the-product', 'src/wire/sdk.ts', '@modelcontextprotocol/client'],
  ['nobody-imports-the-roof', 'src/faces/cli/roof.ts', '../../app/daemon.ts'],
  ['no-circles', 'src/lib/one.ts', './two.ts'],
];

test('[HOUSE-1] every wall bites on a planted violation', async () => {
  const targets = [
    'src/kernel/b.ts',
    'src/features/audit/audit.ts',
    'src/features/grants/grants.ts',
    'src/features/grants/store.ts',
  ];
  targets.push('src/features/fleet/fleet.ts', 'src/features/gateway/gateway.ts', 'src/platform/p.ts', 'src/app/daemon.ts');
  const write = (file: string, text: string): void => {
    mkdirSync(join(planted, dirname(file)), { recursive: true });
    writeFileSync(join(planted, file), text);
  };
  for (const target of targets) write(target, 'export const thing = 1;\n');
  for (const [, file, from] of plants) write(file, `import type * as thing from '${from}';\nexport type T = typeof thing;\n`);
  write('src/lib/two.ts', `import type { T } from './one.ts';\nexport type U = T;\n`);
  write('tsconfig.json', '{ "compilerOptions": { "module": "nodenext", "allowImportingTsExtensions": true, "noEmit": true } }');
  write('package.json', '{ "type": "module" }');
  symlinkSync(join(root, 'node_modules'), join(planted, 'node_modules'));

  const { violations } = await cruise(planted);
  const found = new Set(violations.map(({ from, rule }) => `${rule.name} ${from}`));
  expect(plants.filter(([rule, file]) => !found.has(`${rule} ${file}`))).toEqual([]);
}, 60_000);
