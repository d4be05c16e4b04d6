// The plain form against node's HTTP server: two doors that differ in nothing else, and the same bytes to both.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quiet } from '../../test/support/agent-door.ts';
import { rawSocket } from '../../test/support/raw-socket.ts';
import { listenTcp, type Door } from '../app/doors.ts';
import { createHttpServer } from './http-door.ts';
import type { HttpHandler } from './http-exchange.ts';

/** Says all it was given, so that a request understood in another way is another answer. */
const tellerTo =
  (told: string[]): HttpHandler =>
  ({ method, path, headers }, reply) => {
    const said = JSON.stringify({ method, path, headers: Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1)) });
    if (path === '/refuse') {
      reply.send(401, ['WWW-Authenticate', 'Bearer'], 'no');
      return undefined;
    }
    return (body) => {
      told.push(`${said}\n${body}`);
      if (path === '/large') return reply.send(200, [], `${said}${body.repeat(5_000)}`);
      if (path === '/parts') return reply.send(200, [], [said, body.repeat(5_000), '}']);
      if (path !== '/stream') return reply.send(path === '/taken' ? 202 : 200, ['Content-Type', 'text/plain'], `${said}\n${body}`);
      reply.open(['Content-Type', 'text/event-stream']);
      reply.write(`${said}\n${body}`);
      reply.end();
      reply.send(200, [], 'never');
    };
  };

const host = 'gate.example:443';
const doors: Door[] = [];
/** What the handler behind each door was given. */
const told: string[][] = [[], []];

beforeAll(async () => {
  for (const [at, fastForm] of [true, false].entries()) {
    const options = {
      handler: tellerTo(told[at] ?? []),
      allowedHosts: [host],
      allowedOrigins: [],
      onRefused: () => undefined,
      log: quiet,
    };
    doors.push(await listenTcp(createHttpServer({ ...options, maxBodyBytes: 1_000, fastForm }), 0, 'agent'));
  }
});

afterAll(async () => {
  await Promise.all(doors.map((door) => door.close(0)));
});

/** Everything the door says to these pieces, sent one after the other, until it hangs up or we do. */
async function heardFrom({ port }: Door, pieces: readonly Buffer[]): Promise<string> {
  const peer = await rawSocket(port);
  peer.socket.setNoDelay(true);
  for (const piece of pieces) {
    if (peer.socket.writable) peer.socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  peer.socket.end();
  return (await peer.closed).replaceAll(/^Date: .*$/gm, 'Date: now');
}

async function bothHear(...pieces: readonly Buffer[]): Promise<[string, string]> {
  const [fast = '', reference = ''] = await Promise.all(doors.map((door) => heardFrom(door, pieces)));
  return [fast, reference];
}

const request = (body: string, { path = '/mcp', lines = [] as string[] } = {}): string =>
  [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Content-Length: ${Buffer.byteLength(body)}`, ...lines, '', body].join('\r\n');
const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
const usual = ['Content-Type: application/json', 'accept:application/json, text/event-stream', 'Authorization: Bearer  sp_x'];

function cut(whole: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % whole.length).toSorted((a, b) => a - b), whole.length];
  return places.slice(1).map((end, index) => whole.subarray(places[index], end));
}

describe('the plain form', () => {
  test.each([
    ['an ordinary one', request('{"id":1}', { lines: usual })],
    ['one without a body', request('')],
    ['an answer without a body', request('', { path: '/taken' })],
    ['characters of several bytes', request('{"é":"\u{1f600}"}', { lines: usual })],
    ['the last on its connection', request('{}', { lines: ['Connection: close'] })],
    ['one that says the usual', request('{}', { lines: ['connection: Keep-Alive'] })],
    ['a stream', request('a\nb', { path: '/stream' })],
    ['an empty stream', request('', { path: '/stream' })],
    ['a long answer', request('long', { path: '/large' })],
    ['a long answer of several bytes a character', request('\u{1f600}', { path: '/large' })],
    ['an answer in parts', request('\u00e9', { path: '/parts' })],
    ['a body of exactly the limit', request('x'.repeat(1_000))],
    ['the longest path', request('{}', { path: '/mcp/upstreams/a-b_c.d~e' })],
  ])('[FAST-1] is answered byte for byte as node answers it: %s', async (_, text) => {
    const [fast, reference] = await bothHear(bytes(text));
    expect(fast).toMatch(/^HTTP\/1\.1 20[02] /);
    expect(fast).toBe(reference);
  });

  test('[FAST-1] a request cut in two at any byte is the same request', async () => {
    const whole = bytes(`${request('{"é":1}', { lines: usual })}${request('second', { path: '/stream' })}`);
    const [, reference] = await bothHear(whole);
    expect(reference.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    const cuts = Array.from({ length: whole.length - 1 }, (_, at) => cut(whole, [at + 1]));
    for (let at = 0; at < cuts.length; at += 60) {
      const heard = await Promise.all(cuts.slice(at, at + 60).map((pieces) => heardFrom(doors[0] as Door, pieces)));
      expect(new Set(heard)).toEqual(new Set([reference]));
    }
  }, 30_000);

  test('[FAST-1] requests in a row, cut anywhere, are the same requests', async () => {
    const body = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constant('{"id":1}'), fc.constant(''));
    const one = fc
      .tuple(body, fc.constantFrom('/mcp', '/stream', '/taken', '/'), fc.subarray(usual))
      .map(([text, path, lines]) => request(text, { path, lines }));
    const cuts = fc.array(fc.nat(), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 4 }), cuts, async (requests, places) => {
        const [fast, reference] = await bothHear(...cut(bytes(requests.join('')), places));
        expect(fast).toBe(reference);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

const after = request('next', { lines: ['Connection: close'] });
const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const post = (...lines: readonly string[]): string => head('POST /mcp HTTP/1.1', `Host: ${host}`, ...lines);

/** Each is one way of making two readers disagree about where a request ends or whose it is. */
const hostile: readonly (readonly [string, string])[] = [
  ['a length and chunks', `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${after}`],
  ['chunks and a length', `${post('Transfer-Encoding: chunked', 'Content-Length: 4')}0\r\n\r\n${after}`],
  ['chunks', `${post('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n${after}`],
  ['chunks in disguise', `${post('Transfer-Encoding: xchunked', 'Content-Length: 2')}{}${after}`],
  ['chunks behind a tab', `${post('Transfer-Encoding:\tchunked', 'Content-Length: 2')}{}${after}`],
  ['two lengths that agree', `${post('Content-Length: 2', 'Content-Length: 2')}{}${after}`],
  ['two lengths that differ', `${post('Content-Length: 2', 'content-length: 3')}{}${after}`],
  ['a list of lengths', `${post('Content-Length: 2, 2')}{}${after}`],
  ['a length with a sign', `${post('Content-Length: +2')}{}${after}`],
  ['a negative length', `${post('Content-Length: -2')}{}${after}`],
  ['a length behind two spaces', `${post('Content-Length:  2')}{}${after}`],
  ['a length before a space', `${post('Content-Length: 2 ')}{}${after}`],
  ['a length in hex', `${post('Content-Length: 0x2')}{}${after}`],
  ['a length with a zero before it', `${post('Content-Length: 02')}{}${after}`],
  ['a length with a point', `${post('Content-Length: 2.0')}{}${after}`],
  ['a length beyond all counting', `${post('Content-Length: 99999999999999999999999')}{}`],
  ['a length beyond the limit', `${post('Content-Length: 1001')}${'x'.repeat(1_001)}`],
  ['an empty length', `${post('Content-Length:')}${after}`],
  ['no length', `${post()}${after}`],
  ['a space before the colon', `${post('Content-Length : 2')}{}${after}`],
  ['a tab before the colon', `${post('Content-Length\t: 2')}{}${after}`],
  ['a space before the name', `${post(' Content-Length: 2')}{}${after}`],
  ['a folded line', `${post('Content-Length: 2', 'X-A: 1', ' b')}{}${after}`],
  ['a bare line feed', `${post('Content-Length: 2', 'X-A: 1\nX-B: 2')}{}${after}`],
  ['line feeds alone', `POST /mcp HTTP/1.1\nHost: ${host}\nContent-Length: 2\n\n{}${after}`],
  ['a bare carriage return', `${post('Content-Length: 2', 'X-A: 1\rContent-Length: 3')}{}${after}`],
  ['a carriage return before the end', `${post('Content-Length: 2\r')}{}${after}`],
  ['a zero byte', `${post('Content-Length: 2', 'X-A: a\0b')}{}${after}`],
  ['a zero byte in the name', `${post('Content-Length: 2', 'X\0: a')}{}${after}`],
  ['a byte that is not ASCII', `${post('Content-Length: 2', 'X-A: é')}{}${after}`],
  ['a line without a colon', `${post('Content-Length: 2', 'nothing')}{}${after}`],
  ['a line without a name', `${post('Content-Length: 2', ': 1')}{}${after}`],
  ['an underscore in the name', `${post('Content_Length: 3', 'Content-Length: 2')}{}${after}`],
  ['a name with two meanings', `${post('Content-Length: 2', '__proto__: 1')}{}${after}`],
  ['a header twice', `${post('Content-Length: 2', 'Accept: a/b', 'accept: c/d')}{}${after}`],
  ['two tokens', `${post('Content-Length: 2', 'Authorization: Bearer a', 'Authorization: Bearer b')}{}${after}`],
  ['two Hosts', `${post('Content-Length: 2', 'host: evil.example')}{}${after}`],
  ['another Host', `${head('POST /mcp HTTP/1.1', 'Host: evil.example', 'Content-Length: 2')}{}${after}`],
  ['no Host', `${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}${after}`],
  ['an Origin', `${post('Content-Length: 2', 'Origin: https://evil.example')}{}${after}`],
  ['a whole URL as target', `${head(`POST http://${host}/mcp HTTP/1.1`, `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['an authority as target', `${head(`POST //evil.example/mcp HTTP/1.1`, `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['a star as target', `${head('POST * HTTP/1.1', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['a query', `${head('POST /mcp?a=b HTTP/1.1', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['an escape in the target', `${head('POST /%6dcp HTTP/1.1', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['two spaces before the version', `${head('POST /mcp  HTTP/1.1', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['HTTP/1.0', `${head('POST /mcp HTTP/1.0', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['HTTP/1.2', `${head('POST /mcp HTTP/1.2', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['a method in lower case', `${head('post /mcp HTTP/1.1', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['a GET with a body', `${head('GET /mcp HTTP/1.1', `Host: ${host}`, 'Content-Length: 2')}{}${after}`],
  ['a DELETE', `${head('DELETE /mcp HTTP/1.1', `Host: ${host}`)}${after}`],
  ['a tunnel', `${head(`CONNECT ${host} HTTP/1.1`, `Host: ${host}`)}${after}`],
  ['an upgrade', `${post('Content-Length: 2', 'Connection: upgrade', 'Upgrade: websocket')}{}${after}`],
  ['a length named by Connection', `${post('Content-Length: 2', 'Connection: Content-Length')}{}${after}`],
  ['both ways with the connection', `${post('Content-Length: 2', 'Connection: keep-alive, close')}{}${after}`],
  ['an expectation', `${post('Content-Length: 2', 'Expect: 100-continue')}{}${after}`],
  ['an unknown expectation', `${post('Content-Length: 2', 'Expect: miracles')}{}${after}`],
  ['a line end before the request', `\r\n${request('{}')}${after}`],
  ['a line end behind the body', `${request('{}')}\r\n${after}`],
  ['a letter too many behind the body', `${request('{}')}x${after}`],
  ['a request inside the body', `${request(request('smuggled'))}${after}`],
  ['a head that is too long', `${post('Content-Length: 2', `X-A: ${'a'.repeat(17_000)}`)}{}`],
  ['a body that is no UTF-8', `${post('Content-Length: 2')}\xc3\x28${after}`],
  ['a body that ends too soon', `${post('Content-Length: 20')}{}`],
  ['half a head', 'POST /mcp HTTP/1.1\r\nHost: '],
  ['TLS', '\x16\x03\x01\x02\x00\x01'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['nothing', ''],
];

const answersIn = (heard: string): string[] => heard.split(/(?=HTTP\/1\.1 \d)/).filter((answer) => answer !== '');

describe('whatever else comes', () => {
  test.each(hostile)('[FAST-2] gets the answers of node’s HTTP server: %s', async (_, text) => {
    const whole = Buffer.from(text, 'latin1');
    const [fast, reference] = await bothHear(whole);
    expect(fast).toBe(reference);
    // The same behind a plain request on the same connection.
    const [second, secondReference] = await bothHear(bytes(request('{}')), whole);
    expect(second).toMatch(/^HTTP\/1\.1 200 /);
    expect(second).toBe(secondReference);
  });

  test('[FAST-2] of bytes thrown in at random too', async () => {
    const noise = fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      ' ',
      '\t',
      '\0',
      ':',
      ',',
      ';',
      '0',
      '+',
      '-',
      'x',
      '\x80',
      'Host: a',
      'chunked',
    );
    const damage = fc.record({ at: fc.nat(), drop: fc.nat({ max: 2 }), put: noise });
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        let text = request('{"id":1}', { lines: usual }) + after;
        for (const { at, drop, put } of damages) {
          const place = at % text.length;
          text = text.slice(0, place) + put + text.slice(place + drop);
        }
        told.forEach((requests) => requests.splice(0));
        const [fast, reference] = await bothHear(Buffer.from(text, 'latin1'));
        expect(told[0]).toEqual(told[1]);
        // Node may drop an answer when broken bytes come right behind its request; it never gives another.
        expect(answersIn(reference)).toEqual(expect.arrayContaining(answersIn(fast)));
      }),
      { numRuns: 200 },
    );
  }, 60_000);
});
