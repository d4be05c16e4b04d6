// Starts a conformance fixture and ends it with the test. Knows where they are, not what they do.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export type FixtureName = 'session-server' | 'stateless-server' | 'session-stdio';

/** `[command, script]`, absolute. */
export function fixtureProgram(name: FixtureName): [string, string] {
  return [process.execPath, fileURLToPath(new URL(`../fixtures/conformance/${name}.ts`, import.meta.url))];
}

/** The URL of a fixture that serves HTTP. */
export async function startFixture(name: Exclude<FixtureName, 'session-stdio'>): Promise<string> {
  const [command, script] = fixtureProgram(name);
  const child = spawn(command, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`the fixture ${name} ended before it served`);
}
