// The head of a request in the one plain form that needs no judgement: what nearly every client sends, byte for byte. Refuses to know
// anything else, and to guess: whatever it does not take is for the HTTP parser of node, which then sees the same bytes from the start.
import { Buffer } from 'node:buffer';
import type { HttpHead } from './http-exchange.ts';

export interface FastHead {
  readonly head: HttpHead & { readonly headers: Readonly<Record<string, string | undefined>> };
  /** The head as it came, blank line included. */
  readonly raw: Buffer;
  readonly bodyBytes: number;
  /** The client wants the connection closed after the answer. */
  readonly close: boolean;
}

const maxHeadBytes = 16 * 1024;
const maxHeaders = 64;
const blankLine = '\r\n\r\n';

/** A path of unreserved characters (RFC 3986 §2.3): no query, no escape, no `//` of an authority. */
const requestLine = /^POST (\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*)?) HTTP\/1\.1$/;
/** A name of letters, digits and hyphens; a value of visible ASCII and of spaces inside it (narrower than RFC 9112 §5). */
const headerLine = /^([A-Za-z][A-Za-z0-9-]*): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
const digits = /^(?:0|[1-9]\d{0,9})$/;

/** Each of these changes where a message ends, who reads it or what follows it (RFC 9110 §7.6, §10.1.1; RFC 9112 §6). */
const notPlain: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  'http2-settings',
]);

/**
 * The head at the beginning of `bytes`: `POST` of a plain path over HTTP/1.1, every header named once, one Host, one Content-Length in
 * digits. `undefined` for everything else, an incomplete head included.
 */
export function readFastHead(bytes: Buffer): FastHead | undefined {
  const end = bytes.subarray(0, maxHeadBytes).indexOf(blankLine, 0, 'latin1');
  if (end === -1) return undefined;
  // Split at whole line ends: a bare CR or LF stays inside its line, where no expression lets it pass.
  const lines = bytes.toString('latin1', 0, end).split('\r\n');
  const path = requestLine.exec(lines[0] as string)?.[1];
  if (path === undefined || lines.length > maxHeaders) return undefined;
  const headers = readHeaders(lines);
  const length = headers?.['content-length'];
  if (headers?.['host'] === undefined || length === undefined || !digits.test(length)) return undefined;
  const connection = headers['connection']?.toLowerCase() ?? 'keep-alive';
  if (connection !== 'keep-alive' && connection !== 'close') return undefined;
  return {
    head: { method: 'POST', path, headers },
    // A copy: the chunk it came in is much larger, and would be kept for as long as the connection.
    raw: Buffer.from(bytes.subarray(0, end + blankLine.length)),
    bodyBytes: Number(length),
    close: connection === 'close',
  };
}

/** True when `bytes` begin with the very head that was read before. */
export function startsWith(bytes: Buffer, { raw }: FastHead): boolean {
  return bytes.length >= raw.length && raw.compare(bytes, 0, raw.length) === 0;
}

function readHeaders(lines: readonly string[]): Record<string, string> | undefined {
  const headers = Object.create(null) as Record<string, string>;
  for (let at = 1; at < lines.length; at += 1) {
    const [, name = '', value = ''] = headerLine.exec(lines[at] as string) ?? [];
    const key = name.toLowerCase();
    if (key === '' || key in headers || notPlain.has(key)) return undefined;
    headers[key] = value;
  }
  return headers;
}
