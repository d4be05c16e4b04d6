// The peers as bench/peers/ pins them, and installing them on demand.
import { installIn, missingIn, pinnedIn } from '../scripts/pinned-packages.ts';
import { programOf } from './children.ts';

const folder = programOf('peers/');

/** Package to exact version, as bench/peers/package.json has them. */
export function pinnedPeers(): Readonly<Record<string, string>> {
  return pinnedIn(folder);
}

/** The pinned packages that are not there in exactly that version. */
export function missingPeers(): string[] {
  return missingIn(folder);
}

/** Returns why the peers cannot be measured, `undefined` when all of them can. */
export function installPeers(): string | undefined {
  if (missingPeers().length === 0) return undefined;
  console.error('installing the peers into bench/peers/ (npm ci, no install scripts)');
  return installIn(folder);
}
