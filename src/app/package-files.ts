// What the installed package carries besides its code: its version, and files handed out to people.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of a file of the package, given from its root. `src/app` and `dist/app` are equally deep. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** The version of package.json. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
