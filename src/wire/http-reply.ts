// One answer on node's ServerResponse: head and body leave together, an event stream only when somebody opens it.
import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { announcesBody } from './http-body.ts';
import type { HttpReply } from './http-exchange.ts';

/** How long a peer may go on sending a body nobody wants before its connection is cut. */
const lingerMs = 1_000;
/** From here on joining head and body in one string costs more than one write of two parts saves. UTF-16 units. */
const largeBody = 64 * 1024;

export function createReply(request: IncomingMessage, response: ServerResponse): HttpReply {
  let gone: (() => void) | undefined;

  return {
    send(status, headers, text) {
      if (response.headersSent || response.destroyed) return;
      const body = typeof text === 'string' ? text : text.join('');
      const unread = !request.readableEnded && announcesBody(request);
      const bytes = body.length > largeBody ? Buffer.from(body) : undefined;
      const length = bytes?.length ?? Buffer.byteLength(body);
      const head = [...headers, 'Content-Length', String(length), ...(unread ? ['Connection', 'close'] : [])];
      response.writeHead(status, head);
      if (unread) linger(request, response, bytes ?? body);
      else response.end(bytes ?? body);
    },
    open(headers) {
      if (response.headersSent || response.destroyed) return;
      response.writeHead(200, headers as string[]);
    },
    write(text) {
      if (!response.writableEnded && !response.destroyed) response.write(text);
    },
    end() {
      if (!response.writableEnded) response.end();
    },
    backlog: () => response.writableLength,
    cut: () => void response.destroy(),
    onGone(listener) {
      if (gone === undefined) {
        response.once('close', () => {
          if (!response.writableFinished) gone?.();
        });
      }
      gone = listener;
    },
  };
}

/**
 * The peer is still sending. Closing now would reset the connection and might take the answer with it, so the answer is written
 * whole, the rest of the body is thrown away for a moment, and only then the connection ends.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: string | Buffer): void {
  response.write(body);
  const cut = setTimeout(() => request.socket.destroy(), lingerMs).unref();
  request.once('end', () => response.end());
  response.once('close', () => clearTimeout(cut));
  request.resume();
}
