// Our reading of HTTP answers against node's: two clients that differ in nothing else, and the same bytes from a server that says exactly
// what it is told to.
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createHttpClient } from './http-client.ts';
import { routeOf, type HttpClient, type HttpExchange, type HttpRequest } from './http-exchange.ts';
import { createNodeClient } from './http-node-client.ts';

interface Served {
  readonly socket: Socket;
  heard: string;
  /** How many requests came before on this connection. */
  readonly before: number;
}

let server: Server;
let serve: (request: Served) => void;
const sockets: Socket[] = [];
const connections = (): number => sockets.length;
const clients: { ours: HttpClient; nodes: HttpClient } = { ours: createHttpClient(), nodes: createNodeClient() };

beforeAll(async () => {
  server = createServer((socket) => {
    let before = 0;
    let heard = '';
    sockets.push(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
      if (!heard.endsWith('?')) return;
      serve({ socket, heard, before });
      before += 1;
      heard = '';
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(() => {
  clients.ours.close();
  clients.nodes.close();
  server.close();
});

const headers = ['content-type', 'application/json'];

function requestTo(more: Partial<HttpRequest> = {}): HttpRequest {
  const route = routeOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return { method: 'POST', route, headers, body: 'ask?', ...more };
}

interface Told {
  status?: number;
  type?: string | undefined;
  body: string;
  end: 'end' | 'fail';
  sent?: unknown;
}

function ask(client: HttpClient, more: Partial<HttpRequest> = {}): Promise<Told> {
  return new Promise((resolve) => {
    const told: Told = { body: '', end: 'end' };
    client.start(requestTo(more), {
      head(head) {
        told.status = head.status;
        told.type = head.header('content-type');
      },
      data: (chunk) => void (told.body += chunk.toString('latin1')),
      end: () => resolve(told),
      fail: ({ data }) => resolve({ ...told, end: 'fail', sent: data?.['sent'] }),
    });
  });
}

const answer = (body: string, ...lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...lines, '', body].join('\r\n');
const chunked = (body: string, ...lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', 'Content-Type: text/event-stream', ...lines, '', body].join('\r\n');

const usual: readonly (readonly [string, string])[] = [
  ['a length', answer('{"a":1}', 'Content-Type: application/json')],
  ['a length of zero', 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n'],
  ['nothing to say', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['no reason', 'HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno'],
  ['chunks', chunked('3\r\none\r\nA\r\n0123456789\r\n0\r\n\r\n')],
  ['no chunk at all', chunked('0\r\n\r\n')],
  ['chunks with extensions', chunked('3;a=b\r\none\r\n0;last\r\n\r\n')],
  ['chunks with a trailer', chunked('3\r\none\r\n0\r\nX-Sum: 1\r\n\r\n')],
  ['a size with zeros', chunked('0003\r\none\r\n000\r\n\r\n')],
  ['the last on its connection', answer('bye', 'Connection: close')],
];

const odd: readonly (readonly [string, string])[] = [
  ['an end by closing', 'HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nuntil the end'],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
  ['an interim answer before', `HTTP/1.1 100 Continue\r\n\r\n${answer('{}')}`],
  ['early hints before', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer('{}')}`],
  ['a header twice', answer('{}', 'Content-Type: a/b', 'Content-Type: c/d')],
  ['cookies', answer('{}', 'Set-Cookie: a=b', 'Set-Cookie: c=d')],
  ['a folded line', answer('{}', 'X-A: 1', ' 2')],
  ['a header without a value', answer('{}', 'X-A:')],
  ['a header that is not ASCII', answer('{}', 'X-A: \xe9')],
  ['a space before the colon', answer('{}', 'X-A : 1')],
  ['line feeds alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'],
  ['a length and chunks', chunked('2\r\n{}\r\n0\r\n\r\n', 'Content-Length: 2')],
  ['two lengths', answer('{}', 'Content-Length: 3')],
  ['two lengths that agree', answer('{}', 'Content-Length: 2')],
  ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}'],
  ['a coding beside chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['no size', chunked('x\r\n{}\r\n0\r\n\r\n')],
  ['a chunk longer than it says', chunked('1\r\n{}\r\n0\r\n\r\n')],
  ['a chunk ended by a line feed', chunked('2\n{}\r\n0\r\n\r\n')],
  ['a size with a sign', chunked('+2\r\n{}\r\n0\r\n\r\n')],
  ['a size in hex notation', chunked('0x2\r\n{}\r\n0\r\n\r\n')],
  ['a size beyond all counting', chunked('fffffffffffffffff\r\n{}\r\n0\r\n\r\n')],
  ['a trailer that is none', chunked('0\r\nnothing\r\n\r\n')],
  ['a body that ends too soon', 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}'],
  ['chunks that end too soon', chunked('5\r\nab')],
  ['chunks without the last', chunked('2\r\nab\r\n')],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-'],
  ['no HTTP', 'SSH-2.0-server\r\n'],
  ['nothing', ''],
];

/** Both clients' account of an answer in these pieces, after which the server hangs up. */
async function bothTold(pieces: readonly string[]): Promise<[Told, Told]> {
  serve = ({ socket }) =>
    void (async () => {
      for (const piece of pieces) {
        if (socket.writable) socket.write(piece, 'latin1');
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      socket.end();
    })();
  const told = await Promise.all([ask(clients.ours), ask(clients.nodes)]);
  await vi.waitUntil(() => sockets.every(({ closed }) => closed), { interval: 2 });
  return [comparable(told[0]), comparable(told[1])];
}

/** How much was told of an answer before it turned out to be broken is chance. */
function comparable(told: Told): Told {
  return told.end === 'end' ? told : { body: '', end: 'fail', sent: told.sent };
}

describe('an answer', () => {
  test.each(usual)('[FAST-4] is told as node tells it: %s', async (_, text) => {
    const [ours, nodes] = await bothTold([text]);
    expect(ours).toEqual(nodes);
    expect(ours.end).toBe('end');
  });

  test.each(usual)('[FAST-4] is the same cut in two at any byte: %s', async (_, text) => {
    const [, nodes] = await bothTold([text]);
    for (let at = 1; at < text.length; at += 1) {
      serve = ({ socket }) => {
        socket.write(text.slice(0, at));
        setTimeout(() => socket.end(text.slice(at)), 2);
      };
      expect(await ask(clients.ours)).toEqual(nodes);
    }
  });

  test.each(odd)('[FAST-4] that is not plain is left to node, from its first byte: %s', async (_, text) => {
    const [ours, nodes] = await bothTold([text]);
    expect(ours).toEqual(nodes);
    const [cut] = await bothTold([text.slice(0, 30), text.slice(30)]);
    expect(cut).toEqual(nodes);
  });

  test('[FAST-4] in chunks of any size, cut anywhere, is the same bytes', async () => {
    const parts = fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 300 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(parts, fc.array(fc.nat(), { maxLength: 5 }), async (bodies, places) => {
        const text = chunked([...bodies, ''].map((body) => `${body.length.toString(16)}\r\n${body}\r\n`).join(''));
        const cuts = [0, ...places.map((place) => place % text.length).toSorted((a, b) => a - b), text.length];
        const [ours, nodes] = await bothTold(cuts.slice(1).map((end, index) => text.slice(cuts[index], end)));
        expect(ours).toEqual(nodes);
        expect(ours).toMatchObject({ end: 'end', body: bodies.join('') });
      }),
      { numRuns: 40 },
    );
  }, 30_000);
});

describe('a connection', () => {
  test('[FAST-4] carries one request after the other, with the words node would use', async () => {
    const said: string[] = [];
    serve = ({ socket, heard }) => {
      said.push(heard.toLowerCase().split('\r\n').toSorted().join('\n'));
      socket.write(answer('{}'));
    };
    for (const client of [clients.ours, clients.nodes]) {
      await ask(client);
      await ask(client, { body: '\u00e9\u{1f600}?' });
    }
    expect(connections()).toBe(2);
    expect(said.slice(0, 2)).toEqual(said.slice(2));
  });

  test.each([
    ['the server says so', answer('{}', 'Connection: close')],
    ['it may not be kept', answer('{}', 'Keep-Alive: timeout=1')],
    ['bytes follow the answer', `${answer('{}')}HTTP/1.1 200 OK\r\n`],
  ])('[FAST-4] is not used again when %s', async (_, text) => {
    serve = ({ socket }) => void socket.write(text);
    expect((await ask(clients.ours)).body).toBe('{}');
    await ask(clients.ours);
    expect(connections()).toBe(2);
  });

  test('[FAST-4] on which something came unasked is not used again', async () => {
    serve = ({ socket }) => void socket.write(answer('{}'));
    await ask(clients.ours);
    sockets[0]?.write(answer('"poison"'));
    // Not even when nobody has looked yet.
    expect((await ask(clients.ours)).body).toBe('{}');
    expect(connections()).toBe(2);
  });

  test('[FAST-5] that was kept and is closed before a word sends again what may be repeated, once, and nothing else', async () => {
    for (const repeatable of [false, true]) {
      const seen: number[] = [];
      serve = ({ socket, before }) => {
        seen.push(before);
        if (before === 0) socket.write(answer('{}'));
        else socket.destroy();
      };
      await ask(clients.ours);
      const told = await ask(clients.ours, { repeatable });
      expect(told).toMatchObject(repeatable ? { end: 'end', body: '{}' } : { end: 'fail', sent: true });
      expect(seen).toEqual(repeatable ? [0, 1, 0] : [0, 1]);
      for (const socket of sockets.splice(0)) socket.destroy();
    }
  });

  test('[FAST-5] that is fresh, or broke within the answer, sends nothing again', async () => {
    let times = 0;
    serve = ({ socket }) => {
      times += 1;
      socket.destroy();
    };
    expect(await ask(clients.ours, { repeatable: true })).toMatchObject({ end: 'fail', sent: true });
    expect(times).toBe(1);
    serve = ({ socket, before }) => {
      times += 1;
      if (before === 0) socket.write(answer('{}'));
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n');
    };
    await ask(clients.ours);
    expect(await ask(clients.ours, { repeatable: true })).toMatchObject({ end: 'fail', sent: true, status: 200 });
    expect(times).toBe(3);
  });

  test('[FAST-5] that cannot be made says that nothing was sent', async () => {
    const [ours, nodes] = await Promise.all(
      [clients.ours, clients.nodes].map((client) => ask(client, { route: routeOf('http://127.0.0.1:1/mcp') })),
    );
    expect(ours).toEqual(nodes);
    expect(ours).toMatchObject({ end: 'fail', sent: false });
  });

  test('[FAST-5] whose exchange is abandoned is closed, and nobody is told', async () => {
    serve = ({ socket }) => void socket.write(chunked('3\r\none\r\n'));
    const heard: string[] = [];
    const reader = {
      head: () => void heard.push('head'),
      data: () => void heard.push('data'),
      end: () => void heard.push('end'),
      fail: () => void heard.push('fail'),
    };
    const exchange: HttpExchange = clients.ours.start(requestTo(), reader);
    await vi.waitUntil(() => heard.includes('data'));
    exchange.abandon();
    await vi.waitUntil(() => sockets[0]?.destroyed === true);
    expect(heard).toEqual(['head', 'data']);
  });

  test('[FAST-5] whose reader throws is closed, and the reader told once', async () => {
    for (const where of ['head', 'data', 'end'] as const) {
      serve = ({ socket }) => void socket.write(answer('{}'));
      const fails: string[] = [];
      const oops = (at: string) => () => {
        if (at === where) throw new Error(`oops in ${at}`);
      };
      const failed = new Promise<void>((resolve) => {
        const fail = ({ message }: Error): void => {
          fails.push(message);
          resolve();
        };
        clients.ours.start(requestTo(), { head: oops('head'), data: oops('data'), end: oops('end'), fail });
      });
      await failed;
      expect(fails).toHaveLength(1);
    }
  });

  test('[FAST-5] in use or kept ends when the client is closed', async () => {
    const client = createHttpClient();
    serve = ({ socket, heard }) => void (heard.includes('wait') || socket.write(answer('{}')));
    await Promise.all([ask(client), ask(client)]);
    const waiting = ask(client, { body: 'wait?' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    client.close();
    expect(await waiting).toMatchObject({ end: 'fail', sent: true });
    await vi.waitUntil(() => sockets.every(({ destroyed }) => destroyed));
  });

  test('[FAST-5] that ends because the client is closed sends nothing again, whatever may be repeated', async () => {
    for (const client of [createHttpClient(), createNodeClient()]) {
      serve = ({ socket, before }) => void (before > 0 || socket.write(answer('{}')));
      await ask(client);
      const waiting = ask(client, { repeatable: true });
      await new Promise((resolve) => setTimeout(resolve, 30));
      client.close();
      expect(await waiting).toMatchObject({ end: 'fail', sent: true });
      expect(sockets.splice(0)).toHaveLength(1);
    }
  });

  test('[FAST-4] does not carry a header that would break out of its line', () => {
    for (const bad of ['a\r\nX-B: b', 'a\0', '\u{1f600}']) {
      expect(() => clients.ours.start(requestTo({ headers: ['x-a', bad] }), {} as never)).toThrow(/header|character/i);
    }
  });
});
