// The direct call: one upstream over pipes, shared by all sessions of a cell as a gateway would share it.
import { spawn } from 'node:child_process';
import type { Target } from './arm.ts';
import { assertAnswered, initializeParams, type Door } from './client.ts';
import { createLineCutter } from './lines.ts';

export async function pipeDoor(target: Extract<Target, { kind: 'pipe' }>): Promise<Door> {
  const child = spawn(target.command, target.args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (line: Buffer) => void>();
  let nextId = 1;
  child.stdout.on(
    'data',
    createLineCutter((line) => {
      const id = Number(/^\{"jsonrpc":"2.0","id":(\d+)/.exec(line.toString('latin1', 0, 64))?.[1]);
      waiting.get(id)?.(line);
      waiting.delete(id);
    }),
  );
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object): Promise<Buffer> =>
    new Promise((resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      send({ id, method, params });
    });

  await ask('initialize', initializeParams);
  send({ method: 'notifications/initialized' });
  const session = {
    call: async (tool: string, size: number) => assertAnswered(await ask('tools/call', { name: tool, arguments: { size } }), size),
    close: () => Promise.resolve(),
  };
  return {
    ...(child.pid === undefined ? {} : { pid: child.pid }),
    open: () => Promise.resolve(session),
    close: () => void child.stdin.end(),
  };
}
