// Real listening on loopback and on a unix socket.
import { mkdtemp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'node:http';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSmallDispatch } from '../../test/support/small-dispatch.ts';
import { silentLog } from '../../test/support/silent-log.ts';
import { createHumanDoor, refuseMalformed } from '../faces/http/human-door.ts';
import { answers, listenSocket, listenTcp, serverFor, type Door } from './doors.ts';

let folder: string;
const open: Door[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'door-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((door) => door.close(100)));
  await rm(folder, { recursive: true, force: true });
});

const app = (): Hono => new Hono().get('/', (context) => context.text('hello'));
const opened = async (door: Promise<Door>): Promise<Door> => {
  open.push(await door);
  return door;
};

/** One raw request on one connection; the status line of the answer. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.end(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer.split('\r\n')[0] ?? ''));
    socket.on('error', reject);
  });
}

test('[DOOR-10] a taken port is an error that names the port and what to do, and nothing listens elsewhere', async () => {
  const { port } = await opened(listenTcp(serverFor(app()), 0, 'human'));
  const second = serverFor(app());
  await expect(listenTcp(second, port, 'human')).rejects.toMatchObject({
    kind: 'conflict',
    code: 'door.port_taken',
    message: expect.stringContaining(String(port)) as string,
    hint: expect.stringContaining('--human-port') as string,
  });
  expect(second.listening).toBe(false);
});

test('TCP is bound to 127.0.0.1 alone', async () => {
  const server = serverFor(app());
  await opened(listenTcp(server, 0, 'agent'));
  expect(server.address()).toMatchObject({ address: '127.0.0.1', family: 'IPv4' });
});

test('the local socket is 0600 in a folder of 0700', async () => {
  const path = join(folder, 'run', 'sallyport.sock');
  await opened(listenSocket(serverFor(app()), path));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'run'))).mode & 0o777).toBe(0o700);
});

test('a folder that was open to others is closed before the socket is made', async () => {
  await mkdir(join(folder, 'run'), { mode: 0o755 });
  await opened(listenSocket(serverFor(app()), join(folder, 'run', 'sallyport.sock')));
  expect((await stat(join(folder, 'run'))).mode & 0o777).toBe(0o700);
});

test('a stale socket is taken over, a live one never', async () => {
  const path = join(folder, 'run', 's.sock');
  await leaveStaleSocket(path);
  expect((await stat(path)).isSocket()).toBe(true);
  expect(await answers(path)).toBe(false);
  await opened(listenSocket(serverFor(app()), path));
  expect(await answers(path)).toBe(true);
  await expect(listenSocket(serverFor(app()), path)).rejects.toMatchObject({ kind: 'conflict', code: 'door.daemon_running' });
  expect(await answers(path)).toBe(true);
});

test('a file in the place of the socket is left alone', async () => {
  const path = join(folder, 's.sock');
  await writeFile(path, 'precious');
  await expect(listenSocket(serverFor(app()), path)).rejects.toMatchObject({ code: 'door.not_a_socket' });
});

test('a path too long for a socket is said before anything is made', async () => {
  const path = join(folder, 'x'.repeat(120), 's.sock');
  await expect(listenSocket(serverFor(app()), path)).rejects.toMatchObject({
    code: 'door.socket_path_too_long',
    hint: expect.stringContaining('SALLYPORT_HOME') as string,
  });
});

test('closing lets a request finish and then leaves no connection open', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow = new Hono().get('/', async (context) => {
    await held;
    return context.text('done');
  });
  const door = await listenTcp(serverFor(slow), 0, 'human');
  const answer = new Promise<string>((resolve, reject) => {
    request({ host: '127.0.0.1', port: door.port }, (response) => {
      response.on('data', (chunk: Buffer) => resolve(chunk.toString()));
    })
      .on('error', reject)
      .end();
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const closed = door.close(5_000);
  release();
  expect(await answer).toBe('done');
  await closed;
});

test('closing cuts a request off after the grace', async () => {
  const stuck = new Hono().get('/', () => new Promise<Response>(() => undefined));
  const door = await listenTcp(serverFor(stuck), 0, 'human');
  const failed = new Promise((resolve) => request({ host: '127.0.0.1', port: door.port }).on('error', resolve).end());
  await new Promise((resolve) => setTimeout(resolve, 50));
  await door.close(50);
  expect(await failed).toMatchObject({ code: 'ECONNRESET' });
});

test.each([
  ['its own name', (host: string) => `GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, 200],
  ['a Host that is no host', () => 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 403],
  ['two Host lines', (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`, 403],
  [
    'an absolute target with another Host',
    (host: string) => `GET http://${host}/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    403,
  ],
  ['no Host in HTTP/1.0', () => 'GET / HTTP/1.0\r\n\r\n', 403],
])('[DOOR-3] over a real connection %s gets its answer', async (_, requestOf, status) => {
  const dispatch = createSmallDispatch();
  let port = 0;
  const human = createHumanDoor({
    dispatch,
    log: silentLog(),
    origin: () => `http://a1.localhost:${port}`,
    approval: async () => undefined,
  });
  ({ port } = await opened(
    listenTcp(
      serverFor(human, () => refuseMalformed(dispatch)),
      0,
      'human',
    ),
  ));
  expect(await raw(port, requestOf(`a1.localhost:${port}`))).toContain(` ${status} `);
  expect(dispatch.journal.length > 0).toBe(status === 403);
});

/** What a killed daemon leaves: a socket file nobody listens on. */
async function leaveStaleSocket(path: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  const { spawnSync } = await import('node:child_process');
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
}
