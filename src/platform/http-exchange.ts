// One exchange with an upstream over HTTP, in words: where it goes, what is sent, and who is told the head, the bytes and the end, or the
// one failure. Knows no socket and no MCP.
import type { Buffer } from 'node:buffer';
import type { AppError } from '../kernel/errors.ts';

/** Where requests go, taken apart once. */
export interface Route {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly origin: string;
  readonly hostHeader: string;
  /** Of the name; `any` unless given. */
  readonly addresses: 'any' | 'local' | 'public';
  /** What connections are kept by: the origin, and where its name may lead. */
  readonly pool: string;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly route: Route;
  /** Names and values in turn; host and content-length are added. */
  readonly headers: readonly string[];
  readonly body?: string;
  /** Harmless when done twice: sent once more when a kept connection turns out to be closed before a word of an answer. */
  readonly repeatable?: boolean;
}

export interface HttpHead {
  readonly status: number;
  /** By lower-case name; the first value where there are several. */
  header(name: string): string | undefined;
}

/** `end` and `fail` are the last thing heard; neither comes after `abandon`. What `head` and `data` throw ends the exchange as `fail`. */
export interface HttpReader {
  head(head: HttpHead): void;
  data(chunk: Buffer): void;
  end(): void;
  fail(error: AppError): void;
}

export interface HttpExchange {
  /** Closes it without a further word. */
  abandon(): void;
}

export interface HttpClient {
  start(request: HttpRequest, reader: HttpReader): HttpExchange;
  close(): void;
}

export function routeOf(url: string, addresses: Route['addresses'] = 'any'): Route {
  const { protocol, hostname, port, pathname, search, origin, host } = new URL(url);
  const secure = protocol === 'https:';
  return {
    secure,
    host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    path: `${pathname}${search}`,
    origin,
    hostHeader: host,
    addresses,
    pool: addresses === 'any' ? origin : `${origin} ${addresses}`,
  };
}
