// The head of an answer in the one plain form that needs no judgement. Refuses to guess: what it does not take is for node's parser, which
// then reads the answer from its first byte.
import type { Buffer } from 'node:buffer';
import type { HttpHead } from './http-exchange.ts';

export interface ResponseHead {
  readonly head: HttpHead;
  /** Of the head itself, blank line included. */
  readonly bytes: number;
  /** How the body is framed: so many bytes, or in chunks. */
  readonly body: number | 'chunked';
  /** How long the connection may be kept after it; 0: not at all. `undefined`: the server does not say. */
  readonly keepMs: number | undefined;
}

const maxHeadBytes = 16 * 1024;
const blankLine = '\r\n\r\n';
/** Interim answers (1xx) and those that change the protocol are not plain. */
const statusLine = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\x20-\x7e]*)?$/;
const headerLine = /^([A-Za-z][A-Za-z0-9-]*):[ ]?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
const digits = /^(?:0|[1-9]\d{0,14})$/;
const notPlain: ReadonlySet<string> = new Set(['upgrade', 'trailer', 'te', 'proxy-connection']);

/** The whole head at the beginning of `bytes`; `undefined` for everything that is not plain, an incomplete head included. */
export function readResponseHead(bytes: Buffer): ResponseHead | undefined {
  const end = bytes.subarray(0, maxHeadBytes).indexOf(blankLine, 0, 'latin1');
  if (end === -1) return undefined;
  // Split at whole line ends: a bare CR or LF stays inside its line, where no expression lets it pass.
  const lines = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(statusLine.exec(lines[0] as string)?.[1]);
  const headers = readHeaders(lines);
  if (Number.isNaN(status) || headers === undefined) return undefined;
  const body = framing(status, headers);
  const keepMs = keeping(headers);
  if (body === undefined || keepMs === 'odd') return undefined;
  return { head: { status, header: (name) => headers[name] }, bytes: end + blankLine.length, body, keepMs };
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

/** RFC 9112 §6.3, where one of its cases is clear: a length or chunks, and never both. */
function framing(status: number, headers: Readonly<Record<string, string>>): number | 'chunked' | undefined {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (status === 204 || status === 304) return length === undefined && coding === undefined ? 0 : undefined;
  if (coding !== undefined) return coding === 'chunked' && length === undefined ? 'chunked' : undefined;
  return length !== undefined && digits.test(length) ? Number(length) : undefined;
}

function keeping(headers: Readonly<Record<string, string>>): number | 'odd' | undefined {
  const connection = headers['connection']?.toLowerCase() ?? 'keep-alive';
  if (connection === 'close') return 0;
  if (connection !== 'keep-alive') return 'odd';
  const hint = /^timeout=(\d{1,6})(?:,|$)/.exec(headers['keep-alive'] ?? '')?.[1];
  // Ours must go first, and its end takes time to arrive.
  return hint === undefined ? undefined : Math.max(0, Number(hint) * 1_000 - 1_000);
}
