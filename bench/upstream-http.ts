// The raw upstream over Streamable HTTP: sessions of 2025-11-25, plain JSON answers, no stream of its own. Prints `{"url"}` when ready.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, type Request } from './echo.ts';

const sessions = new Set<string>();
const end = Buffer.from('}');

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': 0 }).end();
}

function reply(request: Request, session: string | undefined, response: ServerResponse): void {
  if (request.id === undefined || request.method === undefined) return refuse(response, 202);
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},`);
  const member = answer(request);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': head.length + member.length + end.length,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  });
  response.write(head);
  response.write(member);
  response.end(end);
}

function post(body: Buffer, session: string | undefined, response: ServerResponse): void {
  const request = JSON.parse(body.toString()) as Request;
  if (request.method === 'initialize') {
    const opened = randomUUID();
    sessions.add(opened);
    return reply(request, opened, response);
  }
  if (session === undefined) return refuse(response, 400);
  return sessions.has(session) ? reply(request, undefined, response) : refuse(response, 404);
}

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const header = request.headers['mcp-session-id'];
  const session = typeof header === 'string' ? header : undefined;
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'POST') post(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks), session, response);
    else if (request.method === 'DELETE') refuse(response, session !== undefined && sessions.delete(session) ? 200 : 404);
    else refuse(response, 405);
  });
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
