// A TCP door on node:http, with a plain form of HTTP read faster before it: keep-alive, bounded heads, bodies and times, exact Host and
// Origin before anything else. Hands the head to one handler and the body to what the handler returns. Knows no route, no token and no
// protocol above HTTP.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../kernel/ports.ts';
import { putFastFormBefore } from './fast-form.ts';
import { keepAliveSeconds } from './fast-reply.ts';
import { readBody } from './http-body.ts';
import type { DoorRefusal, HttpHandler, HttpReply } from './http-exchange.ts';
import { createGuard, type Guard } from './http-guard.ts';
import { createReply } from './http-reply.ts';
import { createServing, json, type Serving } from './http-serving.ts';
import { encodeError, rpcCode } from './jsonrpc.ts';

export interface HttpDoorOptions {
  readonly handler: HttpHandler;
  /** Names (`127.0.0.1`, `localhost`, `[::1]`) or whole authorities (`gate.example:443`) a request may be addressed to. */
  readonly allowedHosts: readonly string[];
  /** Origins of browser pages that may call. Usually none. */
  readonly allowedOrigins: readonly string[];
  /** A refusal for the wrong Host or Origin, to be recorded. */
  readonly onRefused: (refusal: DoorRefusal) => void;
  readonly log: Log;
  /** Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Default 1,024; further ones are closed at once. */
  readonly maxConnections?: number;
  /** From the first byte to the end of the head; default 10 s. */
  readonly headTimeoutMs?: number;
  /** From the first byte to the end of the body; default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Default true. False leaves every byte to node's HTTP server, which is how the plain form should behave too. */
  readonly fastForm?: boolean;
}

const defaultMaxBodyBytes = 4 * 1024 * 1024;
const maxHeadBytes = 16 * 1024;

/** The door before it listens. The names allowed follow the port it comes to listen on. */
export function createHttpServer(options: HttpDoorOptions): Server {
  const { allowedHosts, allowedOrigins, headTimeoutMs = 10_000, requestTimeoutMs = 30_000, maxConnections = 1_024 } = options;
  const { maxBodyBytes = defaultMaxBodyBytes } = options;
  const serving = createServing(options.handler, options.log);
  let guard: Guard = createGuard(0, [], []);
  const server = createServer(
    {
      keepAliveTimeout: keepAliveSeconds * 1_000,
      headersTimeout: headTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
      maxHeaderSize: maxHeadBytes,
      insecureHTTPParser: false,
    },
    (request, response) => serve({ ...options, maxBodyBytes, serving }, guard, request, response, false),
  );
  server.maxConnections = maxConnections;
  server.on('listening', () => {
    server.on('error', (error) => options.log.error('the door failed', { error: error.message }));
    const address = server.address();
    guard = createGuard(typeof address === 'object' && address !== null ? address.port : 0, allowedHosts, allowedOrigins);
  });
  // `Expect: 100-continue`: the head is judged before the peer is told to send its body.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    serve({ ...options, maxBodyBytes, serving }, guard, request, response, true),
  );
  if (options.fastForm !== false)
    putFastFormBefore(server, { serving, guard: () => guard, maxBodyBytes, headTimeoutMs, requestTimeoutMs });
  return server;
}

interface Served extends HttpDoorOptions {
  readonly maxBodyBytes: number;
  readonly serving: Serving;
}

function serve(served: Served, guard: Guard, request: IncomingMessage, response: ServerResponse, waits: boolean): void {
  const reply = createReply(request, response);
  const { method = '', url = '', headers } = request;
  const refusal = guard.check(headers, hostCount(request.rawHeaders));
  if (refusal !== undefined) {
    refuse(served, refusal, reply);
    return;
  }
  if (!url.startsWith('/')) {
    reply.send(400, json, problem('The request target must be a path.'));
    return;
  }
  const { serving, maxBodyBytes } = served;
  const query = url.indexOf('?');
  const takeBody = serving.begin({ method, path: query === -1 ? url : url.slice(0, query), headers }, reply);
  if (takeBody === undefined) {
    request.resume();
    return;
  }
  if (waits && Number(headers['content-length'] ?? 0) <= maxBodyBytes) response.writeContinue();
  readBody(request, maxBodyBytes, (body) => {
    if (body === undefined) reply.send(413, json, problem(`The body is longer than ${maxBodyBytes} bytes.`));
    else serving.take(takeBody, body, reply);
  });
}

/** Node keeps the first of several Host headers and drops the others unsaid. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

function refuse({ onRefused }: HttpDoorOptions, refusal: DoorRefusal | 'malformed', reply: HttpReply): void {
  if (refusal === 'malformed') {
    reply.send(400, json, problem('A request names exactly one Host.'));
    return;
  }
  onRefused(refusal);
  const why =
    refusal.reason === 'wrong_host'
      ? 'This Host is not one this door answers to. Use the address that the daemon printed.'
      : 'Pages of this Origin may not call this door.';
  reply.send(403, json, problem(why));
}

function problem(message: string): string {
  return encodeError(null, rpcCode.serverError, message);
}
