// One connection of the plain form through its life, by a client that says exactly what it is told to.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { quiet } from '../../test/support/agent-door.ts';
import { rawSocket } from '../../test/support/raw-socket.ts';
import { listenTcp, type Door } from '../app/doors.ts';
import { openFastConnection, type FastConnection } from './fast-connection.ts';
import { createGuard } from './http-guard.ts';
import { createServing } from './http-serving.ts';
import { createHttpServer, type HttpDoorOptions } from './http-door.ts';
import type { HttpHandler, HttpReply } from './http-exchange.ts';

const host = 'gate.example:443';
const request = (body: string, path = '/mcp', ...lines: string[]): string =>
  [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Content-Length: ${body.length}`, ...lines, '', body].join('\r\n');

const refusing: HttpHandler = ({ path }, reply) => {
  if (path !== '/refuse') return (body) => reply.send(200, [], body);
  reply.send(401, ['WWW-Authenticate', 'Bearer'], 'no');
  return undefined;
};

async function open(options: Partial<HttpDoorOptions>): Promise<Door> {
  const plain = { handler: refusing, allowedHosts: [host], allowedOrigins: [], onRefused: () => undefined, log: quiet };
  const door = await listenTcp(createHttpServer({ ...plain, ...options }), 0, 'agent');
  onTestFinished(() => door.close(0));
  return door;
}

test('[FAST-1] serves on after a refusal of a request that was read whole', async () => {
  const peer = await rawSocket((await open({})).port);
  peer.socket.write(request('{}', '/refuse'));
  expect(await peer.until(/no$/)).toMatch(/^HTTP\/1\.1 401 [^]*Connection: keep-alive/);
  peer.socket.write(request('{}', '/mcp', 'Connection: close'));
  expect(await peer.closed).toMatch(/200 OK/);
});

test('[FAST-1] is closed after an answer to a sender in the middle of its body, who reads it', async () => {
  const peer = await rawSocket((await open({})).port);
  peer.socket.write(request('x'.repeat(900), '/refuse').slice(0, -800));
  await peer.until(/no$/);
  peer.socket.write('x'.repeat(800));
  expect(await peer.closed).toMatch(/^HTTP\/1\.1 401 [^]*Connection: close[^]*no$/);
});

test('[FAST-1] a stream is sent piece by piece, and nothing of it after its end', async () => {
  let reply: HttpReply | undefined;
  const door = await open({ handler: (_, given) => () => void (reply = given) });
  const peer = await rawSocket(door.port);
  peer.socket.write(request('{}'));
  await vi.waitUntil(() => reply !== undefined);
  reply?.open(['Content-Type', 'text/event-stream']);
  reply?.write('');
  reply?.write('one\n');
  expect(await peer.until(/one/)).toMatch(/chunked\r\n\r\n4\r\none\n\r\n$/);
  reply?.write('zw\u00f6lf');
  reply?.end();
  reply?.write('late');
  reply?.end();
  reply?.send(200, [], 'late');
  reply = undefined;
  peer.socket.write(request('{}'));
  await vi.waitUntil(() => reply !== undefined);
  expect(peer.heard()).toMatch(/one\n\r\n6\r\nzw\u00c3\u00b6lf\r\n0\r\n\r\n$/);
  peer.socket.destroy();
});

test('[FAST-2] a header that would break out of its line is not sent', async () => {
  const door = await open({ handler: (_, reply) => () => reply.send(200, ['X-A', 'a\r\nX-B: b'], 'x') });
  const peer = await rawSocket(door.port);
  peer.socket.write(request('{}', '/mcp', 'Connection: close'));
  const heard = await peer.closed;
  expect(heard).toMatch(/^HTTP\/1\.1 500 /);
  expect(heard).not.toContain('X-B');
});

test('[FAST-1] a request sent ahead of the answer waits for it, however much comes', async () => {
  const replies: HttpReply[] = [];
  const door = await open({ handler: (_, reply) => () => void replies.push(reply) });
  const peer = await rawSocket(door.port);
  peer.socket.write(request('first'));
  await vi.waitUntil(() => replies.length === 1);
  const body = 'x'.repeat(200_000);
  peer.socket.write(request(body));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(replies).toHaveLength(1);
  replies[0]?.send(200, [], 'one');
  await vi.waitUntil(() => replies.length === 2);
  replies[1]?.send(200, [], 'two');
  expect((await peer.until(/two$/)).match(/one|two/g)).toEqual(['one', 'two']);
  peer.socket.destroy();
});

test('[FAST-3] that is dropped tells the one request in flight, once', async () => {
  let gone = 0;
  let taken = false;
  const door = await open({
    handler: (_, reply) => {
      reply.onGone(() => (gone += 1));
      return () => void (taken = true);
    },
  });
  for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
    [gone, taken] = [0, false];
    const peer = await rawSocket(door.port);
    peer.socket.write(request('{}'));
    await vi.waitUntil(() => taken);
    peer.socket[end]();
    await vi.waitUntil(() => gone > 0);
    await peer.closed;
    expect(gone).toBe(1);
  }
  const half = await rawSocket(door.port);
  [gone, taken] = [0, false];
  half.socket.write(request('{}').slice(0, -1));
  await new Promise((resolve) => setTimeout(resolve, 20));
  half.socket.destroy();
  await vi.waitUntil(() => gone === 1);
  expect(taken).toBe(false);
});

test('[FAST-3] that was answered tells nobody when it goes', async () => {
  let gone = 0;
  const door = await open({
    handler: (_, reply) => {
      reply.onGone(() => (gone += 1));
      return () => reply.send(200, [], 'done');
    },
  });
  const peer = await rawSocket(door.port);
  peer.socket.write(request('{}'));
  await peer.until(/done/);
  peer.socket.destroy();
  await peer.closed;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(gone).toBe(0);
});

test('[FAST-3] whose body trickles is cut off in time, and one that says nothing', async () => {
  const door = await open({ headTimeoutMs: 100, requestTimeoutMs: 300 });
  const startedAt = performance.now();
  const silent = await rawSocket(door.port);
  const slow = await rawSocket(door.port);
  slow.socket.write(request('x'.repeat(900)).slice(0, -800));
  const trickle = setInterval(() => slow.socket.writable && slow.socket.write('x'), 20);
  const heard = await Promise.all([silent.closed, slow.closed]);
  clearInterval(trickle);
  expect(heard[0]).toMatch(/^HTTP\/1\.1 408 /);
  expect(heard[1]).toMatch(/^HTTP\/1\.1 408 /);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('[FAST-3] that reads no answers is not read either', async () => {
  const answer = 'x'.repeat(200_000);
  let asked = 0;
  const door = await open({
    handler: (_, reply) => () => {
      asked += 1;
      reply.send(200, [], answer);
    },
  });
  const peer = await rawSocket(door.port);
  peer.socket.pause();
  const asking = setInterval(() => peer.socket.write(request('{}')), 1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  clearInterval(asking);
  // What the system's buffers hold, and no more: each answer has to leave before the next request is looked at.
  expect(asked).toBeLessThan(100);
  peer.socket.destroy();
});

test('[FAST-3] that takes its answer slowly is not idle before it has it', async () => {
  let at = 0;
  const { promise: opened, resolve } = Promise.withResolvers<FastConnection>();
  const handler: HttpHandler = (_, reply) => () => reply.send(200, [], 'x'.repeat(32 * 1024 * 1024));
  const guard = createGuard(0, [host], []);
  const server = createServer((socket) =>
    resolve(
      openFastConnection(socket, {
        serving: createServing(handler, quiet),
        guard: () => guard,
        maxBodyBytes: 1_024,
        headTimeoutMs: 100,
        requestTimeoutMs: 100,
        handOver: () => undefined,
        left: () => undefined,
        now: () => at,
      }),
    ),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const peer = await rawSocket((server.address() as AddressInfo).port);
  const connection = await opened;
  peer.socket.pause();
  peer.socket.write(request('{}'));
  await new Promise((done) => setTimeout(done, 50));
  at += 9 * 60_000;
  connection.check();
  peer.socket.resume();
  await vi.waitUntil(() => peer.heard().length > 32 * 1024 * 1024, 5_000);
  at += 74_000;
  connection.check();
  peer.socket.write(request('{}'));
  await vi.waitUntil(() => peer.heard().length > 64 * 1024 * 1024, 5_000);
  at += 76_000;
  connection.check();
  expect((await peer.closed).length).toBeGreaterThan(64 * 1024 * 1024);
});

test('[FAST-3] is closed at once when idle, and after the grace when a request is on it', async () => {
  const door = await open({ handler: () => () => undefined });
  const idle = await rawSocket(door.port);
  const busy = await rawSocket(door.port);
  busy.socket.write(request('{}'));
  await new Promise((resolve) => setTimeout(resolve, 30));
  const startedAt = performance.now();
  const closing = door.close(200);
  await idle.closed;
  expect(performance.now() - startedAt).toBeLessThan(150);
  await closing;
  expect(performance.now() - startedAt).toBeGreaterThan(150);
  expect(await busy.closed).toBe('');
});
