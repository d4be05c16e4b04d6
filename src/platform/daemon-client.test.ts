// The client against sockets that answer, lie, stall and break.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createNetServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDaemonClient } from './daemon-client.ts';

let folder: string;
let socketPath: string;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'));
  socketPath = join(folder, 's.sock');
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  await rm(folder, { recursive: true, force: true });
});

async function listen(server: Server): Promise<void> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
}
const answering = (listener: RequestListener) => listen(createHttpServer(listener));
const client = (timeoutMs = 2_000) => createDaemonClient({ socketPath, home: '/the/home', timeoutMs });

test('an operation is sent as JSON with its proof, and its output comes back', async () => {
  const seen: unknown[] = [];
  await answering((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push([request.method, request.url, JSON.parse(body)]);
      response.end(JSON.stringify({ output: { ok: true } }));
    });
  });
  const proof = { challenge: 'c', method: 'passphrase' as const, keyId: 'k', signature: 's' };
  expect(await client().operate('notes/../add', { text: 'ä' }, proof)).toEqual({ ok: true });
  expect(seen).toEqual([['POST', '/v1/operations/notes%2F..%2Fadd', { input: { text: 'ä' }, proof }]]);
});

test('an error keeps kind, code, message, hint and waiting time', async () => {
  await answering((_, response) => {
    response.statusCode = 429;
    response.end(JSON.stringify({ error: { kind: 'limited', code: 'a.b', message: 'slow', hint: 'wait', retry_after_s: 3 } }));
  });
  await expect(client().status()).rejects.toMatchObject({
    kind: 'limited',
    code: 'a.b',
    message: 'slow',
    hint: 'wait',
    retryAfterMs: 3000,
  });
});

test('[CLI-1] no socket, and a file that is none, are both no daemon, said with the home and what to do', async () => {
  const absent = { code: 'daemon.absent', message: 'no daemon is running for /the/home', hint: 'Start it with: sallyport up' };
  await expect(client().status()).rejects.toMatchObject(absent);
  await writeFile(socketPath, '');
  await expect(client().status()).rejects.toMatchObject(absent);
});

test('a daemon that never answers is given up', async () => {
  await answering(() => undefined);
  await expect(client(200).status()).rejects.toMatchObject({
    code: 'daemon.silent',
    hint: expect.stringContaining('sallyport down') as string,
  });
});

test('a daemon that stops in the middle of an answer is given up', async () => {
  await answering((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"a":', () => response.destroy());
  });
  await expect(client().status()).rejects.toMatchObject({ code: 'daemon.lost' });
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', 'daemon.lost'],
  ['no JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello', 'daemon.garbled'],
  ['an error of no known shape', 'HTTP/1.1 500 No\r\ncontent-length: 13\r\n\r\n{"error":"x"}', 'daemon.garbled'],
  ['null for an error', 'HTTP/1.1 500 No\r\ncontent-length: 4\r\n\r\nnull', 'daemon.garbled'],
])('%s is not taken for a daemon', async (_, answer, code) => {
  await listen(createNetServer((socket) => void socket.once('data', () => socket.end(answer))));
  await expect(client().status()).rejects.toMatchObject({ kind: 'unavailable', code });
});
