// One answer written straight to a socket: head and body in one write, an event stream only when somebody opens it. Says the same as
// http-reply.ts says through node's ServerResponse. Knows nothing of what the socket carries next.
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { HeaderList, HttpReply } from './http-exchange.ts';
import { headText } from './http-head-text.ts';

export interface FastReplyDeps {
  readonly socket: Socket;
  /** Asked when the head is written: whether the connection will be closed after this answer. */
  readonly closes: () => boolean;
  /** The answer is complete, as far as we are concerned. */
  readonly done: () => void;
}

export interface FastReply extends HttpReply {
  /** The socket is closed. */
  lost(): void;
}

/** Seconds; what the door keeps a quiet connection for. */
export const keepAliveSeconds = 75;
const keeps = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`;
const closing = 'Connection: close\r\n';
/** From here on joining head and body in one string costs more than one write of two parts saves. UTF-16 units. */
const largeBody = 8 * 1024;

export function createFastReply({ socket, closes, done }: FastReplyDeps): FastReply {
  let state: 'open' | 'streaming' | 'over' = 'open';
  /** Of a stream that was opened and has no event yet. */
  let head = '';
  let gone: (() => void) | undefined;

  function start(status: number, headers: HeaderList, length?: number): string {
    return headText(status, headers, length, closes() ? closing : keeps);
  }

  /** In one write of many pieces, none of which is copied into another first. */
  function sendParts(status: number, headers: HeaderList, parts: readonly string[]): void {
    const lengths = parts.map((part) => Buffer.byteLength(part));
    const length = lengths.reduce((sum, bytes) => sum + bytes, 0);
    socket.cork();
    socket.write(start(status, headers, length), 'latin1');
    // Pieces of text are taken at three bytes for each unit of UTF-8: rather make the bytes here.
    for (const [at, part] of parts.entries()) {
      if (lengths[at] === part.length) socket.write(part, 'latin1');
      else socket.write(Buffer.from(part));
    }
    socket.uncork();
  }

  function finish(): void {
    state = 'over';
    done();
  }

  return {
    send(status, headers, body) {
      if (state !== 'open' || socket.destroyed) return;
      if (typeof body !== 'string') sendParts(status, headers, body);
      else if (body.length > largeBody) sendParts(status, headers, [body]);
      else {
        const length = Buffer.byteLength(body);
        // As many bytes as units: ASCII, which needs no encoding.
        socket.write(start(status, headers, length) + body, length === body.length ? 'latin1' : 'utf8');
      }
      finish();
    },
    open(headers) {
      if (state !== 'open' || socket.destroyed) return;
      state = 'streaming';
      head = start(200, headers);
    },
    write(text) {
      if (state !== 'streaming' || socket.destroyed || text === '') return;
      socket.write(`${head}${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
      head = '';
    },
    end() {
      if (state !== 'streaming' || socket.destroyed) return;
      socket.write(`${head}0\r\n\r\n`, 'latin1');
      finish();
    },
    backlog: () => socket.writableLength,
    cut: () => void socket.destroy(),
    onGone(listener) {
      gone = listener;
    },
    lost() {
      if (state === 'over') return;
      state = 'over';
      gone?.();
    },
  };
}
