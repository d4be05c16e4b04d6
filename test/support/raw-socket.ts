// A TCP client that says exactly what it is told to and remembers everything it hears.
import { connect, type Socket } from 'node:net';

export interface RawSocket {
  readonly socket: Socket;
  /** All bytes heard so far, as latin1. */
  heard(): string;
  /** Resolves when what was heard matches, or the connection is over. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything heard once the other side has closed. */
  readonly closed: Promise<string>;
}

export async function rawSocket(port: number, opening = ''): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1' });
  let heard = '';
  const watchers = new Set<() => void>();
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      resolve(heard);
      for (const watch of watchers) watch();
    });
  });
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString('latin1');
    for (const watch of watchers) watch();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  if (opening !== '') socket.write(opening);
  return {
    socket,
    heard: () => heard,
    until: (pattern) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (!pattern.test(heard) && !socket.destroyed) return;
          watchers.delete(watch);
          resolve(heard);
        };
        watchers.add(watch);
        watch();
      }),
    closed,
  };
}
