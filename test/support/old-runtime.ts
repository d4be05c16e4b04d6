// Runtimes that are too old for the program, for tests of what happens then.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A runtime too old for the program: a real one from the PATH, else the present one that calls itself old. */
export function oldRuntime(): [string, ...string[]] {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    if (!existsSync(node)) continue;
    const { stdout } = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' });
    const major = Number(stdout.split('.')[0]);
    if (major >= 18 && major < 24) return [node];
  }
  return posing('20.0.0');
}

/** This runtime under another version number. */
export function posing(version: string): [string, ...string[]] {
  const pose = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(pose)}`];
}
