// Which file a command name means: the PATH search of execvp(3), done before anything is started, so that what is missing is said plainly
// and what is accepted can be compared.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * The absolute path of an executable file, or `undefined`. A command with a slash is taken relative to `cwd`, another one is looked up
 * in `path` (colon separated; relative entries are skipped, they would mean whatever folder we happen to be in).
 */
export async function findProgram(
  command: string,
  where: { readonly cwd?: string | undefined; readonly path?: string | undefined },
): Promise<string | undefined> {
  if (command.includes('/')) {
    const file = resolve(where.cwd ?? '/', command);
    return (await isExecutable(file)) ? file : undefined;
  }
  for (const folder of (where.path ?? '').split(':')) {
    if (isAbsolute(folder) && (await isExecutable(join(folder, command)))) return join(folder, command);
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
