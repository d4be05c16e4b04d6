// The head of an answer as the bytes that go out, in the words of node's HTTP server: status, the headers given, length, date and what
// becomes of the connection. Refuses a header that would not stay one line.
import { STATUS_CODES } from 'node:http';
import type { HeaderList } from './http-exchange.ts';

/** RFC 9110 §5.5 as narrow as we need it. */
const sendable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

let lastList: HeaderList | undefined;
let lastLines = '';
let date = '';
let dateUntil = 0;

/** `length` in bytes; absent: the body comes in chunks. `connection` is the lines about the connection, ended. */
export function headText(status: number, headers: HeaderList, length: number | undefined, connection: string): string {
  const lines = headers === lastList ? lastLines : linesOf(headers);
  const start = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines}`;
  if (length === undefined) return `${start}Date: ${now()}\r\n${connection}Transfer-Encoding: chunked\r\n\r\n`;
  return `${start}Content-Length: ${length}\r\nDate: ${now()}\r\n${connection}\r\n`;
}

/** Most answers carry the very same list; it is kept as lines. */
function linesOf(headers: HeaderList): string {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    if (!sendable.test(name) || !sendable.test(value)) throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
    lines += `${name}: ${value}\r\n`;
  }
  lastList = headers;
  lastLines = lines;
  return lines;
}

/** RFC 9110 §6.6.1, to the second. */
function now(): string {
  const at = Date.now();
  if (at >= dateUntil || at < dateUntil - 1_000) {
    date = new Date(at).toUTCString();
    dateUntil = at - (at % 1_000) + 1_000;
  }
  return date;
}
