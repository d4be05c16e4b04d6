// HTTP/1.1 exchanges with upstreams over kept connections of node:http and node:https. Certificates are always verified, redirects never
// followed. Knows no MCP: whoever asks is told the head, the bytes and the end, or the one failure.
import { Agent as PlainAgent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { asAppError, type AppError } from '../kernel/errors.ts';
import { cutOff, unreachable } from './http-faults.ts';

/** Where requests go, taken apart once. */
export interface Route {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly origin: string;
  readonly hostHeader: string;
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

/** Common servers close a quiet connection after five seconds, and not all of them say so; ours must go first. */
const keptIdleMs = 4_000;
const connectTimeoutMs = 10_000;

export function routeOf(url: string): Route {
  const { protocol, hostname, port, pathname, search, origin, host } = new URL(url);
  const secure = protocol === 'https:';
  return {
    secure,
    host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    path: `${pathname}${search}`,
    origin,
    hostHeader: host,
  };
}

export function createHttpClient(): HttpClient {
  const kept = { keepAlive: true, timeout: keptIdleMs, maxFreeSockets: 64 };
  const plain = new PlainAgent(kept);
  // Said outright, so that no variable of the environment turns it off.
  const secure = new SecureAgent({ ...kept, rejectUnauthorized: true });

  function open({ method, route, headers, body }: HttpRequest): ClientRequest {
    const { host, port, path, hostHeader } = route;
    const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
    const options = { method, host, port, path, headers: ['host', hostHeader, ...headers, ...length] };
    return route.secure ? secureRequest({ ...options, agent: secure }) : plainRequest({ ...options, agent: plain });
  }

  return {
    start(request, reader) {
      let outgoing = open(request);
      let ends = follow(outgoing, request, reader, request.repeatable === true ? again : undefined);
      outgoing.end(request.body);

      function again(): void {
        outgoing = open(request);
        ends = follow(outgoing, request, reader, undefined);
        outgoing.end(request.body);
      }

      return {
        abandon() {
          ends.abandon();
          outgoing.destroy();
        },
      };
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

function follow(
  outgoing: ClientRequest,
  { route }: HttpRequest,
  reader: HttpReader,
  again: (() => void) | undefined,
): { abandon(): void } {
  let over = false;
  /** From here on the upstream may have seen it. */
  let connected = false;
  let answered = false;

  function fail(error: AppError): void {
    if (over) return;
    over = true;
    outgoing.destroy();
    reader.fail(error);
  }

  function guarded(step: () => void): void {
    if (over) return;
    try {
      step();
    } catch (thrown) {
      fail(asAppError(thrown));
    }
  }

  outgoing.on('socket', (socket: Socket & { readonly secureConnecting?: boolean }) => {
    if (outgoing.reusedSocket || !(socket.connecting || socket.secureConnecting === true)) {
      connected = true;
      return;
    }
    const patience = setTimeout(() => outgoing.destroy(new TimedOut()), connectTimeoutMs);
    const settle = (): void => clearTimeout(patience);
    socket.once(route.secure ? 'secureConnect' : 'connect', () => {
      connected = true;
      settle();
    });
    socket.once('close', settle);
  });
  outgoing.on('error', (error) => {
    if (!over && !answered && outgoing.reusedSocket && again !== undefined) {
      over = true;
      again();
    } else fail(connected ? cutOff() : unreachable(route.origin, error));
  });
  outgoing.on('response', (incoming: IncomingMessage) => {
    answered = true;
    incoming.on('error', () => fail(cutOff()));
    incoming.on('data', (chunk: Buffer) => guarded(() => reader.data(chunk)));
    incoming.on('end', () =>
      guarded(() => {
        reader.end();
        over = true;
      }),
    );
    guarded(() => reader.head(headOf(incoming)));
  });
  return {
    abandon() {
      over = true;
    },
  };
}

class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';
}

function headOf(incoming: IncomingMessage): HttpHead {
  const { statusCode = 0, headers } = incoming;
  return {
    status: statusCode,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}
