// Emits dist/ from src/. Plain JavaScript, so that it runs before anything else does. `--if-stale`: only when a source is newer.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.built');

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const fresh = existsSync(stamp) && statSync(stamp).mtimeMs > newest(join(root, 'src'));
if (!existsSync(join(root, 'src')) || (process.argv.includes('--if-stale') && fresh)) process.exit(0);
if (!existsSync(compiler)) {
  console.error('build: TypeScript is not installed; run `npm ci` with development dependencies.');
  process.exit(1);
}
rmSync(join(root, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
  cwd: root,
});
if (status === 0) writeFileSync(stamp, '');
process.exit(status ?? 1);
