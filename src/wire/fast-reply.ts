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
const largeBody = 64 * 1024;

export function createFastReply({ socket, closes, done }: FastReplyDeps): FastReply {
  let state: 'open' | 'streaming' | 'over' = 'open';
  /** Of a stream that was opened and has no event yet. */
  let head = '';
  let gone: (() => void) | undefined;

  function start(status: number, headers: HeaderList, length?: number): string {
    return headText(status, headers, length, closes() ? closing : keeps);
  }

  function finish(): void {
    state = 'over';
    done();
  }

  return {
    send(status, headers, body) {
      if (state !== 'open' || socket.destroyed) return;
      const length = Buffer.byteLength(body);
      // As many bytes as units: ASCII, which needs no encoding.
      write(socket, start(status, headers, length), body, length === body.length ? 'latin1' : 'utf8');
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

function write(socket: Socket, head: string, body: string, encoding: 'latin1' | 'utf8'): void {
  if (body.length <= largeBody) {
    socket.write(head + body, encoding);
    return;
  }
  socket.cork();
  socket.write(head, 'latin1');
  // Several parts leave in one buffer, for which UTF-8 is taken at three bytes a unit: rather make the bytes here.
  if (encoding === 'latin1') socket.write(body, encoding);
  else socket.write(Buffer.from(body));
  socket.uncork();
}
