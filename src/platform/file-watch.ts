// Tells when one file changed, however an editor saved it. Knows nothing of its content.
import * as fs from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Unsubscribe } from '../kernel/ports.ts';

const debounceMs = 50;
const pollMs = 2_000;

/**
 * The folder is watched, not the file, since most editors replace it; a slow poll covers symbolic links, network drives and
 * exhausted watch limits. Neither keeps the process alive.
 */
export function watchFile(path: string, changed: () => void): Unsubscribe {
  let timer: NodeJS.Timeout | undefined;
  let watcher: fs.FSWatcher | undefined;
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(changed, debounceMs);
    timer.unref();
  };
  try {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    watcher = fs.watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(path)) soon();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // The poll below still sees every change.
  }
  const polled = (now: fs.Stats, before: fs.Stats): void => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino) soon();
  };
  fs.watchFile(path, { persistent: false, interval: pollMs }, polled);
  return () => {
    clearTimeout(timer);
    watcher?.close();
    fs.unwatchFile(path, polled);
  };
}
