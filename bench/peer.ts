// Starts a gateway of someone else as its README says, but on loopback only (loopback.ts), with an empty home and no programs to find.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { programOf, start, stop } from './children.ts';

/** A free port is taken whatever a peer asks for; this one only satisfies those that insist on being told. */
export const anyPort = '7999';
const startDeadlineMs = 30_000;

export interface RunningPeer {
  readonly child: ChildProcess;
  /** `http://127.0.0.1:…`, without a path. */
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

/** The port a peer listens on; rejects with its last words when it ends first or takes 30 s. */
function listening(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-600)));
    const deadline = setTimeout(() => reject(new Error(`${name} does not listen after 30 s. ${complaint}`)), startDeadlineMs);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(deadline);
      reject(new Error(`${name} ended with ${code} before it listened. ${complaint}`));
    });
    child.on('message', (message: { listening?: number }) => {
      if (message.listening === undefined) return;
      clearTimeout(deadline);
      resolve(message.listening);
    });
  });
}

/** `script` is the peer's program below peers/node_modules; `argsIn` gets the home, where it may write a configuration first. */
export async function startPeer(name: string, script: string, argsIn: (home: string) => readonly string[]): Promise<RunningPeer> {
  const home = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  const erase = (): void => rmSync(home, { recursive: true, force: true });
  process.once('exit', erase);
  const child = start(
    process.execPath,
    ['--import', programOf('loopback.ts'), programOf(`peers/node_modules/${script}`), ...argsIn(home)],
    { cwd: home, env: { HOME: home, PATH: home }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  const stopPeer = async (): Promise<void> => {
    await stop(child);
    process.off('exit', erase);
    erase();
  };
  try {
    return { child, origin: `http://127.0.0.1:${await listening(child, name)}`, stop: stopPeer };
  } catch (error) {
    await stopPeer();
    throw error;
  }
}
