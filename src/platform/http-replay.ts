// A socket whose request was sent and whose answer has begun, as a stream for node's HTTP client: what is written to it was said already and
// goes nowhere, what is read from it is the answer from its first byte.
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { Buffer } from 'node:buffer';

/** The socket has no other reader any more. It ends with the stream. */
export function replayed(socket: Socket, received: Buffer): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (_said, _encoding, done) => done(),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  stream.push(received);
  socket.on('data', (bytes: Buffer) => {
    if (!stream.push(bytes)) socket.pause();
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', (error) => stream.destroy(error));
  socket.on('close', () => {
    if (!stream.readableEnded && !socket.readableEnded) stream.destroy();
  });
  return stream;
}
