// Once for a whole test run: a door (unix socket) where a suite that needs PostgreSQL asks for its URL. The server starts with
// the first who asks and is gone when the run ends.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** One JSON line through the door. */
export type PostgresAnswer = { readonly url: string } | { readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    postgresDoor: string;
  }
}

export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  let server: ChildProcess | undefined;
  let answer: Promise<string> | undefined;
  let skipped: string | undefined;

  const start = (): Promise<string> => {
    // Its own session: Ctrl-C in the terminal reaches the runner, whose end closes the pipe.
    const child = spawn(process.execPath, [fileURLToPath(new URL('postgres-server.ts', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    server = child;
    return new Promise((resolve) => {
      let settled = false;
      const settle = (line: string): void => {
        if (settled) return;
        settled = true;
        const parsed = JSON.parse(line) as PostgresAnswer;
        if ('reason' in parsed) {
          skipped = `SKIPPED: PostgreSQL suites did not run: ${parsed.reason}`;
          console.error(`\n${skipped}\n`);
        }
        resolve(line);
      };
      child.once('exit', (code) => settle(JSON.stringify({ reason: `the server script ended with ${code}` })));
      createInterface({ input: child.stdout }).once('line', settle);
    });
  };

  const door = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    answer ??= start();
    void answer.then((line) => socket.end(`${line}\n`));
  });
  const path = join(folder, 'door');
  door.listen(path);
  project.provide('postgresDoor', path);

  return async () => {
    door.close();
    if (server !== undefined && server.exitCode === null) {
      const gone = new Promise((resolve) => server?.once('exit', resolve));
      server.stdin?.end();
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
    if (skipped !== undefined) console.error(`\n${skipped}\n`);
  };
}
