// Hostile and broken HTTP against a real listener on loopback, by raw sockets where a client library would not say such things.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, quiet } from '../../test/support/agent-door.ts';
import { rawSocket } from '../../test/support/raw-socket.ts';
import { AppError } from '../kernel/errors.ts';
import { listenTcp, type Door } from '../app/doors.ts';
import { createHttpServer, type HttpDoorOptions } from './http-door.ts';
import type { DoorRefusal, HttpHandler } from './http-exchange.ts';

const echo: HttpHandler = (head, reply) => {
  if (head.path === '/refuse') {
    reply.send(401, [], 'refused');
    return undefined;
  }
  if (head.path === '/throw') throw new Error('secret detail');
  if (head.path === '/silent') return undefined;
  return (body) => reply.send(200, ['Content-Type', 'text/plain'], `${head.method} ${head.path} ${body.length}`);
};

let door: Door;
let refusals: DoorRefusal[];

async function open(options: Partial<HttpDoorOptions> = {}): Promise<Door> {
  const server = createHttpServer({
    handler: echo,
    allowedHosts: ['127.0.0.1', 'localhost', 'Gate.Example:443'],
    allowedOrigins: ['https://console.example'],
    onRefused: (refusal) => refusals.push(refusal),
    log: quiet,
    ...options,
  });
  return listenTcp(server, 0, 'agent');
}

const url = (): { url: URL } => ({ url: new URL(`http://127.0.0.1:${door.port}/`) });
const post = (length: number | string, rest = ''): string =>
  `POST /x HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nContent-Length: ${length}\r\n${rest}\r\n`;

beforeEach(async () => {
  refusals = [];
  door = await open();
});

afterEach(() => door.close(0));

describe('who is meant', () => {
  test.each(['evil.example', '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example', '127.0.0.1:80@evil'])(
    '[DOOR-3] the Host %j gets 403 on every path and is recorded',
    async (host) => {
      for (const path of ['/x', '/anything', '/refuse']) {
        const { status, body } = await ask(url(), { path, headers: { host }, body: '{}' });
        expect(status).toBe(403);
        expect(JSON.parse(body)).toMatchObject({ error: { message: expect.stringContaining('Host') as string } });
      }
      expect(refusals).toEqual(Array.from({ length: 3 }, () => ({ reason: 'wrong_host', host })));
    },
  );

  test('[DOOR-3] the names allowed are exact up to case, with the port listened on or their own', async () => {
    for (const host of [`127.0.0.1:${door.port}`, `localhost:${door.port}`, `LOCALHOST:${door.port}`, 'gate.example:443']) {
      expect((await ask(url(), { headers: { host }, body: '' })).status).toBe(200);
    }
    expect((await ask(url(), { headers: { host: `gate.example:${door.port}` }, body: '' })).status).toBe(403);
  });

  test.each([
    'https://evil.example',
    'null',
    'https://console.example.evil',
    'http://console.example',
    'https://console.example:443',
  ])('[DOOR-3] the Origin %s gets 403 whatever the Host', async (origin) => {
    expect((await ask(url(), { headers: { origin }, body: '{}' })).status).toBe(403);
    expect(refusals).toEqual([{ reason: 'wrong_origin', origin }]);
  });

  test('[DOOR-3] the door’s own Origin passes under the name it is addressed by, and under no other', async () => {
    const [one, other] = [`127.0.0.1:${door.port}`, `localhost:${door.port}`];
    expect((await ask(url(), { headers: { host: one, origin: `http://${one}` }, body: '{}' })).status).toBe(200);
    expect((await ask(url(), { headers: { host: one, origin: `http://${other}` }, body: '{}' })).status).toBe(403);
    expect((await ask(url(), { headers: { host: one, origin: `https://${one}` }, body: '{}' })).status).toBe(403);
    expect((await ask(url(), { headers: { host: one, origin: 'http://127.0.0.1' }, body: '{}' })).status).toBe(403);
    expect((await ask(url(), { headers: { host: 'evil.example', origin: 'http://evil.example' }, body: '{}' })).status).toBe(403);
  });

  test('[DOOR-3] the Origin configured passes, and no CORS header is ever sent', async () => {
    const { status, headers } = await ask(url(), { headers: { origin: 'https://console.example' }, body: '{}' });
    expect(status).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('[DOOR-3] no Host at all is the wrong one', async () => {
    const peer = await rawSocket(door.port, 'GET /x HTTP/1.0\r\n\r\n');
    expect(await peer.closed).toMatch(/^HTTP\/1\.1 403 /);
    expect(refusals).toEqual([{ reason: 'wrong_host', host: '' }]);
  });

  test('[DOOR-3] two Host headers are one too many, and a proxy-style target is no path', async () => {
    const two = await rawSocket(
      door.port,
      `GET /x HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nhOsT: evil\r\nConnection: close\r\n\r\n`,
    );
    expect(await two.closed).toMatch(/^HTTP\/1\.1 400 /);
    const absolute = await rawSocket(
      door.port,
      `GET http://evil.example/x HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nConnection: close\r\n\r\n`,
    );
    expect(await absolute.closed).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('bodies', () => {
  test('[DOOR-4] an announced body over the limit gets 413 at once, and the connection is closed', async () => {
    const peer = await rawSocket(door.port, post(100_000_000));
    expect(await peer.until(/\r\n\r\n.*\}/s)).toMatch(/^HTTP\/1\.1 413 [^]*Connection: close/);
    peer.socket.write(Buffer.alloc(100_000));
    expect(await peer.closed).toMatch(/413/);
  });

  test('[DOOR-4] 100 MB in chunks get 413, are not kept in memory, and the sender reads the answer', async () => {
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const peer = await rawSocket(
      door.port,
      `POST /x HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.alloc(1_000_000, 120);
    for (let sent = 0; sent < 100 && !peer.socket.destroyed; sent += 1) {
      peer.socket.write(`${piece.length.toString(16)}\r\n`);
      peer.socket.write(piece);
      await new Promise<void>((resolve) => peer.socket.write('\r\n', () => resolve()));
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    peer.socket.end('0\r\n\r\n');
    expect(await peer.closed).toMatch(/^HTTP\/1\.1 413 /);
    expect(peak).toBeLessThan(80_000_000);
  });

  test('[DOOR-4] a body of exactly the limit is taken, one byte more is not', async () => {
    await door.close(0);
    door = await open({ maxBodyBytes: 1000 });
    expect(await ask(url(), { body: 'x'.repeat(1000) })).toMatchObject({ status: 200, body: 'POST /mcp 1000' });
    expect((await ask(url(), { body: 'x'.repeat(1001) })).status).toBe(413);
  });

  test('[DOOR-4] bytes that are not UTF-8 get 400', async () => {
    const peer = await rawSocket(door.port, post(2, 'Connection: close\r\n'));
    peer.socket.write(Buffer.from([0xc3, 0x28]));
    expect(await peer.closed).toMatch(/^HTTP\/1\.1 400 [^]*not UTF-8/);
  });

  test('a refusal before the body still reaches a sender in the middle of it', async () => {
    const peer = await rawSocket(
      door.port,
      `POST /refuse HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nContent-Length: 3000000\r\n\r\n`,
    );
    for (let sent = 0; sent < 3; sent += 1) peer.socket.write(Buffer.alloc(1_000_000));
    expect(await peer.closed).toMatch(/^HTTP\/1\.1 401 [^]*refused$/);
  });

  test('a sender that asks first is told before it sends', async () => {
    const refused = await rawSocket(door.port, post(100_000_000, 'Expect: 100-continue\r\n'));
    expect(await refused.until(/413/)).not.toMatch(/100 Continue/);
    const invited = await rawSocket(door.port, post(2, 'Expect: 100-continue\r\nConnection: close\r\n'));
    expect(await invited.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/);
    invited.socket.write('{}');
    expect(await invited.closed).toMatch(/200 OK[^]*POST \/x 2$/);
  });
});

describe('broken HTTP', () => {
  test.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
    ['a negative length', 'Content-Length: -1\r\n\r\n{}'],
    ['a garbage chunk size', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n'],
    ['an unknown coding', 'Transfer-Encoding: gzip\r\n\r\n{}'],
    ['a folded header', 'X-A: 1\r\n b\r\n\r\n'],
    ['a bare line feed', 'X-A: 1\nX-B: 2\r\n\r\n'],
    ['no HTTP at all', undefined],
  ])('[DOOR-4] %s is refused and the connection ended', async (_, rest) => {
    const text = rest === undefined ? '\x16\x03\x01\x02\x00\x01' : `POST /x HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\n${rest}`;
    const peer = await rawSocket(door.port, text);
    expect(await peer.closed).toMatch(/^HTTP\/1\.1 400 /);
    expect((await ask(url(), { body: '{}' })).status).toBe(200);
  });

  test('[DOOR-4] a head that is too long gets 431', async () => {
    const peer = await rawSocket(
      door.port,
      `GET /x HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expect(await peer.closed).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('pipelined requests are answered in their order', async () => {
    const requests = [1, 2, 3].map(
      (n) => `POST /p${n} HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nContent-Length: ${n}\r\n\r\n${'x'.repeat(n)}`,
    );
    const peer = await rawSocket(door.port, requests.join(''));
    const heard = await peer.until(/p3 3/);
    expect(heard.match(/POST \/p\d \d/g)).toEqual(['POST /p1 1', 'POST /p2 2', 'POST /p3 3']);
    peer.socket.destroy();
  });

  test('a handler that throws costs its own request only, and its words stay inside', async () => {
    const answer = await ask(url(), { path: '/throw', body: '{}' });
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('secret');
    expect((await ask(url(), { body: '{}' })).status).toBe(200);
  });
});

describe('slow peers', () => {
  test('[DOOR-4] a head or a body that trickles is cut off in time, silence too', async () => {
    await door.close(0);
    door = await open({ headTimeoutMs: 300, requestTimeoutMs: 600 });
    const startedAt = performance.now();
    const silent = await rawSocket(door.port);
    const head = await rawSocket(door.port, 'POST /x HTTP/1.1\r\nHost: ');
    const body = await rawSocket(door.port, post(1000));
    const trickle = setInterval(() => {
      if (!head.socket.destroyed) head.socket.write('a');
      if (!body.socket.destroyed) body.socket.write('b');
    }, 50);
    const heard = await Promise.all([head.closed, body.closed, silent.closed]);
    clearInterval(trickle);
    expect(heard[0]).toMatch(/^HTTP\/1\.1 408 /);
    expect(heard[1]).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('an answer may take longer than a request may', async () => {
    await door.close(0);
    const slow: HttpHandler = (_, reply) => () => void setTimeout(() => reply.send(200, [], 'late'), 900);
    door = await open({ headTimeoutMs: 200, requestTimeoutMs: 300, handler: slow });
    expect(await ask(url(), { body: '{}' })).toMatchObject({ status: 200, body: 'late' });
  });

  test('connections beyond the limit are closed, those within it are served', async () => {
    await door.close(0);
    door = await open({ maxConnections: 2 });
    const held = [await rawSocket(door.port), await rawSocket(door.port)];
    const third = await rawSocket(door.port, post(0, 'Connection: close\r\n'));
    expect(await third.closed).toBe('');
    held[0]?.socket.write(post(0, 'Connection: close\r\n'));
    expect(await held[0]?.closed).toMatch(/200 OK/);
  });
});

describe('opening and closing', () => {
  test('[DOOR-10] a taken port is an error that names it', async () => {
    const bare = { handler: echo, allowedHosts: [], allowedOrigins: [], onRefused: () => undefined, log: quiet };
    const taken = listenTcp(createHttpServer(bare), door.port, 'agent');
    await expect(taken).rejects.toThrow(AppError);
    await expect(taken).rejects.toMatchObject({
      kind: 'conflict',
      code: 'door.port_taken',
      message: expect.stringContaining(String(door.port)) as string,
    });
  });

  test('closing cuts idle connections at once and a request in flight after the grace', async () => {
    const idle = await rawSocket(door.port, post(0));
    await idle.until(/200/);
    const busy = await rawSocket(door.port, `POST /silent HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nContent-Length: 0\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedAt = performance.now();
    const closing = door.close(200);
    await idle.closed;
    expect(performance.now() - startedAt).toBeLessThan(150);
    await closing;
    expect(performance.now() - startedAt).toBeGreaterThan(150);
    expect(await busy.closed).toBe('');
  });
});
