// Starting and stopping processes of the benchmark: only those started here are ever signalled, each by its own pid.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const living = new Set<ChildProcess>();

/** A program of this folder as Node takes it. */
export function programOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** The command of the raw upstream over stdio. */
export const upstreamCommand: readonly [string, ...string[]] = [process.execPath, programOf('upstream.ts')];

export function start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  living.add(child);
  child.once('exit', () => living.delete(child));
  child.once('error', () => living.delete(child));
  return child;
}

/** SIGTERM, SIGKILL after ten seconds; resolves when the process is gone. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(force);
}

export async function stopAll(): Promise<void> {
  await Promise.all([...living].map((child) => stop(child)));
}

/** The first line of stdout as JSON; rejects with what stderr said when the process ends or stays silent for 30 s. */
export async function firstLine(child: ChildProcess, name: string): Promise<Record<string, unknown>> {
  return await new Promise((resolve, reject) => {
    let output = '';
    let complaint = '';
    const deadline = setTimeout(() => reject(new Error(`${name} said nothing on stdout for 30 s. ${complaint}`)), 30_000);
    child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)));
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const end = output.indexOf('\n');
      if (end === -1) return;
      clearTimeout(deadline);
      try {
        resolve(JSON.parse(output.slice(0, end)) as Record<string, unknown>);
      } catch {
        reject(new Error(`${name} printed no JSON: ${output.slice(0, end)}`));
      }
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(deadline);
      reject(new Error(`${name} ended with ${code} before it was ready. ${complaint}`));
    });
  });
}

/** A program of this folder that prints `{"url"}` when it listens; it ends with us, because it watches its standard input. */
export async function startListening(file: string, args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = start(process.execPath, [programOf(file), ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const { url } = await firstLine(child, file);
  return { child, url: String(url) };
}
