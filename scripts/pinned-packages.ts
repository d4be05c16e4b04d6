// Packages that stand apart from the product's, in a folder with exact pins and a lock of its own: which of them are there, and
// installing them on demand. Nothing of theirs is ever run to install.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const installLimitMs = 180_000;

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Package to exact version, as the folder's package.json has them. */
export function pinnedIn(folder: string): Readonly<Record<string, string>> {
  return (readJson(join(folder, 'package.json'))?.['dependencies'] ?? {}) as Record<string, string>;
}

/** The pinned packages that are not there in exactly that version. */
export function missingIn(folder: string): string[] {
  return Object.entries(pinnedIn(folder))
    .filter(([name, version]) => readJson(join(folder, 'node_modules', name, 'package.json'))?.['version'] !== version)
    .map(([name]) => name);
}

/** `npm ci` of the folder's lock, without install scripts, when something is missing. What is missing afterwards, and why, in words. */
export function installIn(folder: string): string | undefined {
  if (missingIn(folder).length === 0) return undefined;
  const { status, stderr, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: installLimitMs,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const missing = missingIn(folder);
  if (missing.length === 0) return undefined;
  const words = stderr.split('\n').map((line) => line.replace(/^npm error ?/, '').trim());
  const said =
    error?.message ??
    words
      .filter((line) => line !== '')
      .slice(0, 2)
      .join(' ');
  return `${missing.join(', ')} not installed; npm ci ended with ${status}: ${said}`;
}
