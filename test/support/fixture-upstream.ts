// How tests start a fixture upstream: command line and environment of `test/fixtures/server.ts` in one of its characters.
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../fixtures/server.ts', import.meta.url));

/** `[command, ...args]`, absolute, for any working directory. */
export function fixtureCommand(behaviour: string, ...args: string[]): [string, ...string[]] {
  return [process.execPath, script, behaviour, ...args];
}
