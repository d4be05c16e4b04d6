// A request as the text that goes out, in the words of node's HTTP client. Takes only what needs no judgement: other headers than visible
// ASCII are for node to refuse.
import { Buffer } from 'node:buffer';
import type { HttpRequest } from './http-exchange.ts';

const name = /^[A-Za-z0-9-]+$/;
const value = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** These would say something about the connection or the body, which is ours to say. */
const ours: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'expect',
  'upgrade',
  'te',
  'trailer',
]);

/** The lines of a list, or nothing where it is not plain. Lists live as long as a session, and so do their lines. */
const linesOf = new WeakMap<readonly string[], string>();

/** Without TLS, and with headers that stay the lines they are. */
export function isPlainRequest({ route, headers }: HttpRequest): boolean {
  return !route.secure && headerLines(headers) !== '';
}

/** Of a plain request. `encoding` is what its characters are to be sent as. */
export function requestText({ method, route, headers, body }: HttpRequest): { text: string; encoding: 'latin1' | 'utf8' } {
  const start = `${method} ${route.path} HTTP/1.1\r\nhost: ${route.hostHeader}\r\n${headerLines(headers)}`;
  if (body === undefined) return { text: `${start}Connection: keep-alive\r\n\r\n`, encoding: 'latin1' };
  const length = Buffer.byteLength(body);
  // As many bytes as units: ASCII, which needs no encoding.
  const encoding = length === body.length ? 'latin1' : 'utf8';
  return { text: `${start}content-length: ${length}\r\nConnection: keep-alive\r\n\r\n${body}`, encoding };
}

function headerLines(headers: readonly string[]): string {
  let lines = linesOf.get(headers);
  if (lines === undefined) {
    lines = arePlain(headers) ? headers.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('') : '';
    linesOf.set(headers, lines);
  }
  return lines;
}

function arePlain(headers: readonly string[]): boolean {
  return headers.every((part, at) => (at % 2 === 0 ? name.test(part) && !ours.has(part.toLowerCase()) : value.test(part)));
}
