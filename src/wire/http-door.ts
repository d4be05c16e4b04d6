// A TCP door on node:http: keep-alive, bounded heads, bodies and times, exact Host and Origin before anything else. Hands the head to
// one handler and the body to what the handler returns. Knows no route, no token and no protocol above HTTP.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../kernel/ports.ts';
import { readBody, type BodyFault } from './http-body.ts';
import type { DoorRefusal, HttpHandler, HttpReply } from './http-exchange.ts';
import { createGuard, type Guard } from './http-guard.ts';
import { createReply } from './http-reply.ts';
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
}

const defaultMaxBodyBytes = 4 * 1024 * 1024;
const maxHeadBytes = 16 * 1024;
const idleConnectionMs = 75_000;

const json = ['Content-Type', 'application/json'] as const;

/** The door before it listens. The names allowed follow the port it comes to listen on. */
export function createHttpServer(options: HttpDoorOptions): Server {
  const { allowedHosts, allowedOrigins, headTimeoutMs = 10_000, requestTimeoutMs = 30_000, maxConnections = 1_024 } = options;
  let guard: Guard = createGuard(0, [], []);
  const server = createServer(
    {
      keepAliveTimeout: idleConnectionMs,
      headersTimeout: headTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
      maxHeaderSize: maxHeadBytes,
      insecureHTTPParser: false,
    },
    (request, response) => serve(options, guard, request, response, false),
  );
  server.maxConnections = maxConnections;
  server.on('listening', () => {
    server.on('error', (error) => options.log.error('the door failed', { error: error.message }));
    const address = server.address();
    guard = createGuard(typeof address === 'object' && address !== null ? address.port : 0, allowedHosts, allowedOrigins);
  });
  // `Expect: 100-continue`: the head is judged before the peer is told to send its body.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    serve(options, guard, request, response, true),
  );
  return server;
}

function serve(options: HttpDoorOptions, guard: Guard, request: IncomingMessage, response: ServerResponse, waits: boolean): void {
  const reply = createReply(request, response);
  const refusal = guard.check(request);
  if (refusal !== undefined) {
    refuse(options, refusal, reply);
    return;
  }
  const { method = '', url = '', headers } = request;
  if (!url.startsWith('/')) {
    reply.send(400, json, problem('The request target must be a path.'));
    return;
  }
  guarded(options.log, reply, () => {
    const query = url.indexOf('?');
    const takeBody = options.handler({ method, path: query === -1 ? url : url.slice(0, query), headers }, reply);
    if (takeBody === undefined) {
      request.resume();
      return;
    }
    const maxBytes = options.maxBodyBytes ?? defaultMaxBodyBytes;
    if (waits && Number(headers['content-length'] ?? 0) <= maxBytes) response.writeContinue();
    readBody(request, maxBytes, (body, fault) => {
      if (body === undefined) refuseBody(fault, maxBytes, reply);
      else guarded(options.log, reply, () => takeBody(body));
    });
  });
}

/** A handler that throws costs one request, not the process; what it threw stays with the operator. */
function guarded(log: Log, reply: HttpReply, work: () => void): void {
  try {
    work();
  } catch (error) {
    log.error('a request failed unexpectedly', { error: error instanceof Error ? error.message : String(error) });
    reply.send(500, json, encodeError(null, rpcCode.internalError, 'Internal error. The log of the daemon says more.'));
  }
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

function refuseBody(fault: BodyFault | undefined, maxBytes: number, reply: HttpReply): void {
  if (fault === 'too_large') reply.send(413, json, problem(`The body is longer than ${maxBytes} bytes.`));
  else reply.send(400, json, encodeError(null, rpcCode.parseError, 'The body is not UTF-8.'));
}

function problem(message: string): string {
  return encodeError(null, rpcCode.serverError, message);
}
