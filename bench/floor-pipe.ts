// The floor of the bridge: one process between a client's pipes and an upstream's. Parses JSON-RPC, maps ids and forwards, no more.
import { spawn } from 'node:child_process';
import { createLineCutter } from './lines.ts';

type Message = Record<string, unknown>;

const [command = process.execPath, ...args] = process.argv.slice(2);
const upstream = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map<number, unknown>();
let nextId = 1;

upstream.stdout.on(
  'data',
  createLineCutter((line) => {
    const message = JSON.parse(line.toString()) as Message;
    const id = message['id'] as number;
    message['id'] = waiting.get(id);
    waiting.delete(id);
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }),
);
process.stdin.on(
  'data',
  createLineCutter((line) => {
    const message = JSON.parse(line.toString()) as Message;
    if (message['id'] !== undefined) {
      const id = nextId++;
      waiting.set(id, message['id']);
      message['id'] = id;
    }
    upstream.stdin.write(`${JSON.stringify(message)}\n`);
  }),
);
process.stdin.on('end', () => upstream.stdin.end());
upstream.on('exit', () => process.exit(0));
