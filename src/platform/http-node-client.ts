// HTTP/1.1 exchanges over node:http and node:https, whatever is said there. Certificates are always verified, redirects never followed.
import { Agent as PlainAgent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asAppError, type AppError } from '../kernel/errors.ts';
import { guardedLookup } from './guarded-lookup.ts';
import type { HttpClient, HttpHead, HttpReader, HttpRequest, Route } from './http-exchange.ts';
import { cutOff, unreachable } from './http-faults.ts';

/** Common servers close a quiet connection after five seconds, and not all of them say so; ours must go first. */
export const keptIdleMs = 4_000;
export const connectTimeoutMs = 10_000;
/** Connections kept at once to one upstream. */
export const maxKept = 64;

export interface NodeClient extends HttpClient {
  /** Reads the answer to a request that was sent already: `stream` swallows what is written and holds the answer from its first byte. */
  resume(request: HttpRequest, reader: HttpReader, stream: Duplex): { abandon(): void };
}

export function createNodeClient(): NodeClient {
  const kept = { keepAlive: true, timeout: keptIdleMs, maxFreeSockets: maxKept };
  // Said outright, so that no variable of the environment turns it off.
  const verified = { ...kept, rejectUnauthorized: true };
  /** A connection is kept for those alone whose rule about addresses it was made under. */
  const agents: Readonly<Record<Route['addresses'], { readonly plain: PlainAgent; readonly secure: SecureAgent }>> = {
    any: { plain: new PlainAgent(kept), secure: new SecureAgent(verified) },
    local: {
      plain: new PlainAgent({ ...kept, lookup: guardedLookup('local') }),
      secure: new SecureAgent({ ...verified, lookup: guardedLookup('local') }),
    },
    public: {
      plain: new PlainAgent({ ...kept, lookup: guardedLookup('public') }),
      secure: new SecureAgent({ ...verified, lookup: guardedLookup('public') }),
    },
  };

  let closed = false;

  return {
    start(request, reader) {
      const { route } = request;
      const options = optionsOf(request);
      let outgoing = open();
      let ends = follow(outgoing, request, reader, request.repeatable === true ? again : undefined);
      outgoing.end(request.body);

      function open(): ClientRequest {
        const { plain, secure } = agents[route.addresses];
        return route.secure ? secureRequest({ ...options, agent: secure }) : plainRequest({ ...options, agent: plain });
      }

      function again(): boolean {
        if (closed) return false;
        outgoing = open();
        ends = follow(outgoing, request, reader, undefined);
        outgoing.end(request.body);
        return true;
      }

      return {
        abandon() {
          ends.abandon();
          outgoing.destroy();
        },
      };
    },
    resume(request, reader, stream) {
      const outgoing = plainRequest({ ...optionsOf(request), agent: false, createConnection: () => stream });
      const ends = follow(outgoing, request, reader, undefined);
      outgoing.end(request.body);
      return {
        abandon() {
          ends.abandon();
          outgoing.destroy();
        },
      };
    },
    close() {
      closed = true;
      for (const { plain, secure } of Object.values(agents)) {
        plain.destroy();
        secure.destroy();
      }
    },
  };
}

function optionsOf({ method, route, headers, body }: HttpRequest) {
  const { host, port, path, hostHeader } = route;
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  return { method, host, port, path, headers: ['host', hostHeader, ...headers, ...length] };
}

function follow(
  outgoing: ClientRequest,
  { route }: HttpRequest,
  reader: HttpReader,
  /** Sends it again; false where nothing is sent any more. */
  again: (() => boolean) | undefined,
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
    if (!over && !answered && outgoing.reusedSocket && again?.() === true) over = true;
    else fail(connected ? cutOff() : unreachable(route.origin, error));
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
