// Whether the peers are installed as bench/peers/ pins them, and installing them on demand. Nothing of theirs is ever run to install.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { programOf } from './children.ts';

const folder = programOf('peers/');
const installLimitMs = 180_000;

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Package to exact version, as bench/peers/package.json has them. */
export function pinnedPeers(): Readonly<Record<string, string>> {
  return (readJson(`${folder}package.json`)?.['dependencies'] ?? {}) as Record<string, string>;
}

/** The pinned packages that are not there in exactly that version. */
export function missingPeers(): string[] {
  return Object.entries(pinnedPeers())
    .filter(([name, version]) => readJson(`${folder}node_modules/${name}/package.json`)?.['version'] !== version)
    .map(([name]) => name);
}

/**
 * `npm ci` of the lock in bench/peers/, without install scripts, when something is missing. Returns why the peers cannot be measured
 * afterwards, `undefined` when all of them can.
 */
export function installPeers(): string | undefined {
  if (missingPeers().length === 0) return undefined;
  console.error('installing the peers into bench/peers/ (npm ci, no install scripts)');
  const { status, stderr, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: installLimitMs,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const missing = missingPeers();
  if (missing.length === 0) return undefined;
  const said = error?.message ?? stderr.trim().split('\n').slice(0, 2).join(' ');
  return `${missing.join(', ')} not installed; npm ci in bench/peers ended with ${status}: ${said}`;
}
