// Every static check, side by side, in well under a minute: types, lint, format, architecture, dead code.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const checks = [
  ['types', ['tsc', '-p', 'tsconfig.json']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['format', ['oxfmt', '--check', '.']],
  ['architecture', ['depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'src']],
  ['dead code', ['knip']],
];

const results = await Promise.all(
  checks.map(
    ([name, [bin, ...args]]) =>
      new Promise((resolve) => {
        const started = Date.now();
        const child = spawn(fileURLToPath(new URL(`../node_modules/.bin/${bin}`, import.meta.url)), args, { cwd: root });
        let output = '';
        child.stdout.on('data', (chunk) => (output += chunk));
        child.stderr.on('data', (chunk) => (output += chunk));
        child.on('error', (error) => resolve({ name, status: 1, output: String(error), ms: 0 }));
        child.on('close', (status) => resolve({ name, status, output, ms: Date.now() - started }));
      }),
  ),
);
for (const { name, status, output, ms } of results) {
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${(ms / 1000).toFixed(1)} s)`);
  if (status !== 0) console.log(output.trimEnd());
}
process.exit(results.every(({ status }) => status === 0) ? 0 : 1);
