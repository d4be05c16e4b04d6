// Once for a whole test run: doors (unix sockets) where a suite asks for what is too dear to have when nobody needs it, a PostgreSQL
// server and the stock servers and clients of test/interop/. Each starts with the first who asks, and is gone when the run ends.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** One JSON line through a door. */
export type PostgresAnswer = { readonly url: string } | { readonly reason: string };
export type InteropAnswer = { readonly ready: true } | { readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    postgresDoor: string;
    interopDoor: string;
  }
}

interface OnDemand {
  close(): Promise<void>;
}

/** `script` prints one JSON line; with a `reason` in it `suites` do not run, which is said there and then and again at the end. */
function onDemand(door: string, script: string, suites: string): OnDemand {
  let running: ChildProcess | undefined;
  let answer: Promise<string> | undefined;
  let skipped: string | undefined;

  const start = (): Promise<string> => {
    // Its own session: Ctrl-C in the terminal reaches the runner, whose end closes the pipe.
    const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    running = child;
    return new Promise((resolve) => {
      let settled = false;
      const settle = (line: string): void => {
        if (settled) return;
        settled = true;
        const parsed = JSON.parse(line) as { readonly reason?: string };
        if (parsed.reason !== undefined) {
          skipped = `SKIPPED: ${suites} did not run: ${parsed.reason}`;
          console.error(`\n${skipped}\n`);
        }
        resolve(line);
      };
      child.once('exit', (code) => settle(JSON.stringify({ reason: `the script ended with ${code}` })));
      createInterface({ input: child.stdout }).once('line', settle);
    });
  };

  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    answer ??= start();
    void answer.then((line) => socket.end(`${line}\n`));
  });
  server.listen(door);
  return {
    async close() {
      server.close();
      if (running !== undefined && running.exitCode === null) {
        const gone = new Promise((resolve) => running?.once('exit', resolve));
        running.stdin?.end();
        await gone;
      }
      if (skipped !== undefined) console.error(`\n${skipped}\n`);
    },
  };
}

export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const doors = { postgresDoor: join(folder, 'postgres'), interopDoor: join(folder, 'interop') };
  const demands = [
    onDemand(doors.postgresDoor, 'postgres-server.ts', 'PostgreSQL suites'),
    onDemand(doors.interopDoor, 'interop-install.ts', 'interop suites with stock servers and clients'),
  ];
  project.provide('postgresDoor', doors.postgresDoor);
  project.provide('interopDoor', doors.interopDoor);
  return async () => {
    await Promise.all(demands.map((demand) => demand.close()));
    rmSync(folder, { recursive: true, force: true });
  };
}
