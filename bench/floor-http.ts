// The floor in front of an upstream over HTTP: parses JSON-RPC, maps ids and forwards on kept-alive connections of `http.request`.
// Knows no agent, policy, grant or record. `node floor-http.ts URL` prints `{"url"}` when ready.
import { Agent, createServer, request, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Message = Record<string, unknown>;

const upstream = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });
/** Headers that belong to the exchange and not to the connection. */
const carried = ['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version'];
let nextId = 1;

function pick(headers: IncomingMessage['headers'], names: readonly string[]): OutgoingHttpHeaders {
  const picked: OutgoingHttpHeaders = {};
  for (const name of names) if (headers[name] !== undefined) picked[name] = headers[name];
  return picked;
}

function collect(stream: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
}

function withId(bytes: Buffer, id: unknown): Buffer {
  const message = JSON.parse(bytes.toString()) as Message;
  message['id'] = id;
  return Buffer.from(JSON.stringify(message));
}

function forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const message = body.length === 0 ? undefined : (JSON.parse(body.toString()) as Message);
  const id = message?.['id'];
  if (message !== undefined && id !== undefined) message['id'] = nextId++;
  const text = message === undefined ? undefined : Buffer.from(JSON.stringify(message));
  const headers = pick(incoming.headers, carried);
  if (text !== undefined) headers['content-length'] = text.length;
  const sent = request(upstream, { agent, method: incoming.method, headers }, (answer) => {
    collect(answer, (bytes) => {
      const out = id === undefined || bytes.length === 0 ? bytes : withId(bytes, id);
      const back = pick(answer.headers, ['content-type', 'mcp-session-id']);
      response.writeHead(answer.statusCode ?? 502, { ...back, 'content-length': out.length }).end(out);
    });
  });
  sent.on('error', () => response.writeHead(502).end());
  sent.end(text);
}

const server = createServer((incoming, response) => collect(incoming, (body) => forward(incoming, body, response)));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
