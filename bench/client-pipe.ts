// A program over pipes: the direct call, or a bridge. All sessions of a cell share it, as a gateway would share an upstream.
import { spawn } from 'node:child_process';
import type { PipeTarget, Tool } from './arm.ts';
import { assertAnswered, initializeParams, type Door } from './client.ts';
import { createLineCutter } from './lines.ts';

interface Waiting {
  readonly resolve: (line: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/** Where programs put the id: first, or last behind a result of any length. */
function idOf(line: Buffer): number {
  const head = /^\{"jsonrpc":"2.0","id":(\d+)/.exec(line.toString('latin1', 0, 64));
  return Number((head ?? /"id":(\d+)[^"]*\}$/.exec(line.toString('latin1', Math.max(0, line.length - 64))))?.[1]);
}

export async function pipeDoor(target: PipeTarget): Promise<Door> {
  const child = spawn(target.command, target.args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...target.env } });
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  child.stdout.on(
    'data',
    createLineCutter((line) => {
      const id = idOf(line);
      waiting.get(id)?.resolve(line);
      waiting.delete(id);
    }),
  );
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the program behind the pipes ended with ${code}`));
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });

  await ask('initialize', initializeParams);
  send({ method: 'notifications/initialized' });
  const session = {
    call: async (tool: Tool, size: number) =>
      assertAnswered(await ask('tools/call', { name: target.tools[tool], arguments: { size } }), size),
    close: () => Promise.resolve(),
  };
  return {
    ...(child.pid === undefined ? {} : { pid: child.pid }),
    open: () => Promise.resolve(session),
    close: () => void child.stdin.end(),
  };
}
