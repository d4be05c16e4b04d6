// The floor: the least an HTTP to stdio forwarder can do and still be one. It parses JSON-RPC, maps ids and forwards;
// it knows no agent, policy, grant or record. Everything Sallyport costs is measured against this.
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLineCutter } from './lines.ts';

type Message = Record<string, unknown>;
interface Waiting {
  readonly id: unknown;
  readonly response: ServerResponse;
}

const [command = process.execPath, ...args] = process.argv.slice(2);
const upstream = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map<number, Waiting>();
let nextId = 1;

upstream.stdout.on(
  'data',
  createLineCutter((line) => {
    const message = JSON.parse(line.toString()) as Message;
    const entry = waiting.get(message['id'] as number);
    if (entry === undefined) return;
    waiting.delete(message['id'] as number);
    message['id'] = entry.id;
    const body = Buffer.from(JSON.stringify(message));
    entry.response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  }),
);

function forward(body: Buffer, response: ServerResponse): void {
  const message = JSON.parse(body.toString()) as Message;
  if (message['id'] === undefined) {
    response.writeHead(202).end();
  } else {
    const id = nextId++;
    waiting.set(id, { id: message['id'], response });
    message['id'] = id;
  }
  upstream.stdin.write(`${JSON.stringify(message)}\n`);
}

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'POST') forward(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks), response);
    else response.writeHead(200).end();
  });
});

function stop(): void {
  upstream.stdin.end();
  process.exit(0);
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
});
upstream.on('exit', stop);
process.on('SIGTERM', stop);
process.stdin.on('end', stop).resume();
