// One connection to an upstream over plain HTTP: one exchange at a time, and the next when the answer before it was read to its end.
// Whatever ends it ends the exchange on it. Knows no pool.
import type { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { asAppError, type AppError } from '../kernel/errors.ts';
import { createChunkReader, type ChunkReader } from './http-chunks.ts';
import type { HttpExchange, HttpReader, HttpRequest } from './http-exchange.ts';
import { broken, cutOff, unreachable } from './http-faults.ts';
import { requestText } from './http-request-text.ts';
import { readResponseHead } from './http-response-head.ts';

export interface ConnectionDeps {
  /** It may carry another exchange, and stay quiet for `keepMs` (`undefined`: the server does not say). */
  readonly free: (connection: Connection, keepMs: number | undefined) => void;
  readonly closed: (connection: Connection) => void;
  /** A kept connection was closed before a word of the answer, and the request may be sent again. */
  readonly again: (request: HttpRequest, reader: HttpReader) => HttpExchange;
  /** Reads on an answer that has not the usual form. */
  readonly resume: (request: HttpRequest, reader: HttpReader, socket: Socket, received: Buffer) => HttpExchange;
}

export interface Connection {
  /** Only while it is free. */
  start(request: HttpRequest, reader: HttpReader): HttpExchange;
  /** False once the other side closed it, or said something nobody asked for. */
  usable(): boolean;
  /** Ends it; an exchange on it fails. */
  cut(): void;
}

interface Running {
  readonly request: HttpRequest;
  readonly reader: HttpReader;
  answered: boolean;
  /** What goes on elsewhere, in place of this. */
  elsewhere: HttpExchange | undefined;
}

/** `socket` may still be connecting. */
export function openConnection(socket: Socket, deps: ConnectionDeps): Connection {
  let running: Running | undefined;
  let exchanges = 0;
  let connected = !socket.connecting;
  let failure: Error | undefined;
  /** By us: nothing is sent again. */
  let wasCut = false;
  /** Of the body that is being read. */
  let left = 0;
  let chunks: ChunkReader | undefined;
  let keepMs: number | undefined;

  function read(bytes: Buffer): void {
    // Nobody asked.
    if (running === undefined) return void socket.destroy();
    if (running.answered) return body(bytes, running);
    const head = readResponseHead(bytes);
    if (head === undefined) return elsewhere(bytes, running);
    const { reader } = running;
    running.answered = true;
    keepMs = head.keepMs;
    chunks = head.body === 'chunked' ? createChunkReader((data) => running?.reader.data(data)) : undefined;
    left = head.body === 'chunked' ? 0 : head.body;
    if (guarded(() => reader.head(head.head))) body(bytes.subarray(head.bytes), running);
  }

  function body(bytes: Buffer, of: Running): void {
    let used: number | undefined;
    const fine = guarded(() => {
      if (chunks !== undefined) used = chunks.push(bytes);
      else {
        const here = Math.min(left, bytes.length);
        left -= here;
        if (here > 0) of.reader.data(here === bytes.length ? bytes : bytes.subarray(0, here));
        if (left === 0) used = here;
      }
    });
    // Whoever was told may have abandoned it.
    if (fine && used !== undefined && running === of) complete(of, used === bytes.length);
  }

  function complete({ reader }: Running, clean: boolean): void {
    running = undefined;
    // Bytes behind an answer, or an answer before the whole question: nobody could tell what the next one answers.
    if (!clean || keepMs === 0 || socket.writableLength > 0) socket.destroy();
    else deps.free(connection, keepMs);
    try {
      reader.end();
    } catch (thrown) {
      reader.fail(asAppError(thrown));
    }
  }

  function elsewhere(bytes: Buffer, from: Running): void {
    running = undefined;
    socket.off('data', read);
    socket.off('close', lost);
    socket.off('error', remember);
    deps.closed(connection);
    from.elsewhere = deps.resume(from.request, from.reader, socket, bytes);
  }

  /** False when the exchange is over by it. */
  function guarded(step: () => void): boolean {
    try {
      step();
      return running !== undefined;
    } catch (thrown) {
      fail(thrown instanceof SyntaxError ? broken(`broke HTTP: ${thrown.message}`) : asAppError(thrown));
      return false;
    }
  }

  function fail(error: AppError): void {
    const failed = running;
    running = undefined;
    socket.destroy();
    failed?.reader.fail(error);
  }

  function lost(): void {
    deps.closed(connection);
    const was = running;
    running = undefined;
    if (was === undefined) return;
    const { request, reader, answered } = was;
    if (!answered && exchanges > 1 && !wasCut && request.repeatable === true) was.elsewhere = deps.again(request, reader);
    else reader.fail(connected ? cutOff() : unreachable(request.route.origin, failure ?? new Error('the connection was closed')));
  }

  function remember(error: Error): void {
    failure = error;
  }

  socket.on('data', read);
  socket.on('close', lost);
  socket.on('error', remember);
  if (!connected) {
    socket.once('connect', () => {
      connected = true;
    });
  }

  const connection: Connection = {
    start(request, reader) {
      const mine: Running = { request, reader, answered: false, elsewhere: undefined };
      running = mine;
      exchanges += 1;
      const { text, encoding } = requestText(request);
      socket.write(text, encoding);
      return {
        abandon() {
          if (running === mine) {
            running = undefined;
            socket.destroy();
          } else mine.elsewhere?.abandon();
        },
      };
    },
    usable: () => socket.writable && socket.readable && !holdsUnread(socket),
    cut() {
      wasCut = true;
      socket.destroy();
    },
  };
  return connection;
}

/**
 * Bytes or an end that reached the system after the event loop last looked would be taken for the answer to the next request. Node's own
 * agent asks the same of the same handle; where that has no such question, the loop's look has to do.
 */
function holdsUnread(socket: Socket & { readonly _handle?: { readonly hasPendingRead?: () => boolean } | null }): boolean {
  return socket._handle?.hasPendingRead?.() === true;
}
