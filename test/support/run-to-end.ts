// A program run to its end, with what it said. Its environment is what it is given and nothing else.
import { spawn } from 'node:child_process';
import type { Finished } from './run-program.ts';

const patienceMs = 30_000;

export function runProgram([command = '', ...args]: readonly string[], env: Readonly<Record<string, string>>): Promise<Finished> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (said[name] += chunk.toString()));
  const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(impatience);
      resolve({ code, signal, ...said });
    });
  });
}
