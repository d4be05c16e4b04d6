// `npm test`: the static checks, then every test. Arguments go to the test runner (`npm test -- src/features/policy`).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const run = (script, ...rest) => spawnSync(process.execPath, [script, ...rest], { cwd: root, stdio: 'inherit' }).status ?? 1;

const built = run('scripts/build.js', '--if-stale');
if (built !== 0) process.exit(built);
const checked = args.length > 0 ? 0 : run('scripts/check.js');
const tested = run('node_modules/vitest/vitest.mjs', 'run', ...args);
process.exit(checked === 0 ? tested : checked);
