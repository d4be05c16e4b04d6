// One connection to a TCP door for as long as everything on it has the plain form of fast-head.ts: one request at a time, each answered
// before the next is looked at. The first thing that is not plain goes, with the whole connection, to node's HTTP server.
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { readFastHead, startsWith, type FastHead } from './fast-head.ts';
import { createFastReply, keepAliveSeconds, type FastReply } from './fast-reply.ts';
import type { BodyHandler } from './http-exchange.ts';
import type { Guard } from './http-guard.ts';
import type { Serving } from './http-serving.ts';

export interface FastDeps {
  readonly serving: Serving;
  /** The guard of the moment. */
  readonly guard: () => Guard;
  readonly maxBodyBytes: number;
  readonly headTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** The connection is node's from here on; what was read and not used stands at the front of the socket. */
  readonly handOver: (socket: Socket) => void;
  /** It is over, or handed over. */
  readonly left: (connection: FastConnection) => void;
  /** Milliseconds from an arbitrary start; need not be exact. */
  readonly now: () => number;
}

export interface FastConnection {
  /** Ends it when it has been waiting for too long; called every now and then. */
  check(): void;
  /** Ends it when no request is on it. */
  endIfIdle(): void;
  cut(): void;
}

/** A body on its way. */
interface Incoming {
  readonly chunks: Buffer[];
  readonly bytes: number;
  missing: number;
  /** Nothing: what comes is thrown away. */
  readonly takeBody: BodyHandler | undefined;
}

/** How long a peer may go on sending a body nobody wants before its connection is cut. */
const lingerMs = 1_000;
/** What a peer may send ahead of the answer before it is no longer read. */
const maxAheadBytes = 64 * 1024;
/** For a peer to take an answer in; whoever reads slowly is not idle. */
const takingMs = 10 * 60_000;
/** What node says of them. */
const cutShort = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
const timedOut = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

export function openFastConnection(socket: Socket, deps: FastDeps): FastConnection {
  const { serving, maxBodyBytes, now } = deps;
  /** Of the request before: clients say the same of every request, but for its length. */
  let last: FastHead | undefined;
  let reply: FastReply | undefined;
  let incoming: Incoming | undefined;
  /** Came after a request that is not answered yet. */
  let ahead: Buffer[] = [];
  let aheadBytes = 0;
  let ending = false;
  let waitsSince = now();
  let served = false;

  function read(chunk: Buffer): void {
    if (incoming !== undefined) gather(chunk, incoming);
    else if (reply !== undefined) hold(chunk);
    else if (!ending) begin(chunk);
  }

  function begin(chunk: Buffer): void {
    const request = last !== undefined && startsWith(chunk, last) ? last : admissible(chunk);
    // Two requests at once, or bytes that belong to none: node knows what to make of them.
    if (request === undefined || chunk.length > request.raw.length + request.bodyBytes) return handOver([chunk]);
    last = request;
    served = true;
    const body = chunk.subarray(request.raw.length);
    const missing = request.bodyBytes - body.length;
    const answer = createFastReply({ socket, closes: () => ending || request.close || incoming !== undefined, done: answered });
    reply = answer;
    if (missing === 0) {
      const takeBody = serving.begin(request.head, answer);
      if (takeBody !== undefined) serving.take(takeBody, body, answer);
      return;
    }
    waitsSince = now();
    // Known before the handler is asked: an answer given at once is one to a sender in the middle of its body.
    incoming = { chunks: [], bytes: request.bodyBytes, missing, takeBody: undefined };
    const takeBody = serving.begin(request.head, answer);
    incoming = { ...incoming, takeBody, chunks: takeBody === undefined ? [] : [body] };
  }

  /** A plain head that the guard lets pass; what it would refuse is refused, and recorded, by the other way in. */
  function admissible(chunk: Buffer): FastHead | undefined {
    const request = readFastHead(chunk);
    if (request === undefined || request.bodyBytes > maxBodyBytes) return undefined;
    return deps.guard().check(request.head.headers, 1) === undefined ? request : undefined;
  }

  function gather(chunk: Buffer, body: Incoming): void {
    const here = chunk.length > body.missing ? chunk.subarray(0, body.missing) : chunk;
    body.missing -= here.length;
    if (body.takeBody !== undefined) body.chunks.push(here);
    if (here.length < chunk.length) hold(chunk.subarray(here.length));
    if (body.missing > 0) return;
    incoming = undefined;
    if (ending) socket.destroySoon();
    else if (body.takeBody !== undefined && reply !== undefined) {
      serving.take(body.takeBody, Buffer.concat(body.chunks, body.bytes), reply);
    }
  }

  function hold(chunk: Buffer): void {
    if (ending) return;
    ahead.push(chunk);
    aheadBytes += chunk.length;
    if (aheadBytes > maxAheadBytes) socket.pause();
  }

  function answered(): void {
    reply = undefined;
    waitsSince = now();
    if (incoming !== undefined) linger();
    else if (ending || last?.close === true) socket.destroySoon();
    else if (aheadBytes > 0) handOver(ahead);
    // Who does not read its answers is not read either.
    else if (socket.writableNeedDrain) {
      socket.pause();
      socket.once('drain', () => {
        waitsSince = now();
        socket.resume();
      });
    }
  }

  /**
   * The peer is still sending. Closing now would reset the connection and might take the answer with it, so the rest of the body is
   * thrown away for a moment first.
   */
  function linger(): void {
    ending = true;
    const cut = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(cut));
  }

  function handOver(chunks: readonly Buffer[]): void {
    socket.off('data', read);
    socket.off('end', finish);
    socket.off('close', lost);
    socket.off('error', ignore);
    deps.left(connection);
    // Paused, so that whoever comes next hears what stands at the front, and hears it first.
    socket.pause();
    for (const chunk of chunks.toReversed()) socket.unshift(chunk);
    deps.handOver(socket);
    socket.resume();
  }

  function finish(): void {
    if (incoming !== undefined && !ending && reply !== undefined) socket.write(cutShort, 'latin1');
    socket.destroySoon();
  }

  function lost(): void {
    deps.left(connection);
    incoming = undefined;
    reply?.lost();
  }

  function tooLate(): void {
    ending = true;
    if (!socket.destroyed) socket.write(timedOut, 'latin1');
    socket.destroySoon();
  }

  socket.on('data', read);
  socket.on('end', finish);
  socket.on('close', lost);
  socket.on('error', ignore);

  const connection: FastConnection = {
    check() {
      const waitedMs = now() - waitsSince;
      if (ending) return;
      if (incoming !== undefined) {
        if (waitedMs > deps.requestTimeoutMs) tooLate();
      } else if (reply !== undefined) return;
      else if (!served) {
        if (waitedMs > deps.headTimeoutMs) tooLate();
      } else if (waitedMs > (socket.writableLength > 0 ? takingMs : keepAliveSeconds * 1_000)) socket.destroy();
    },
    endIfIdle() {
      if (reply === undefined && incoming === undefined) socket.destroySoon();
    },
    cut: () => void socket.destroy(),
  };
  return connection;
}

/** What breaks a connection closes it as well, and that is heard. */
function ignore(): void {}
