// Listening: the unix socket of the local door and TCP on 127.0.0.1 only. A taken port is an error, never a hop; a stale socket is
// removed only when nobody answers on it.
import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { AppError } from '../kernel/errors.ts';

export interface Door {
  /** The port in use; 0 for a unix socket. */
  readonly port: number;
  /** Stops accepting, lets requests finish for `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}

/** sun_path holds 108 bytes on Linux and 104 elsewhere, the closing zero included. */
const maxSocketPathBytes = 103;

/** An HTTP server for a Hono app; `malformed` answers requests whose Host cannot even stand in a URL. */
export function serverFor(app: Hono, malformed?: () => Response): Server {
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    ...(malformed === undefined ? {} : { errorHandler: malformed }),
  });
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (incoming, outgoing) => {
    void listener(incoming, outgoing);
  });
  server.maxConnections = 256;
  return server;
}

/** Throws `door.port_taken` (kind conflict) with the port and what to do. `name` is the setting: `agent` or `human`. */
export async function listenTcp(server: Server, port: number, name: 'agent' | 'human'): Promise<Door> {
  try {
    await listening(server, () => server.listen({ host: '127.0.0.1', port, exclusive: true }));
  } catch (thrown) {
    throw tcpFailure(thrown as NodeJS.ErrnoException, port, name);
  }
  return doorOf(server, (server.address() as AddressInfo).port);
}

/**
 * The socket is 0600 in a folder that is 0700. Throws `door.daemon_running` (kind conflict) when somebody answers on it already.
 * The caller holds the lock of the home, so that no two starts race for a stale socket.
 */
export async function listenSocket(server: Server, path: string): Promise<Door> {
  if (Buffer.byteLength(path) > maxSocketPathBytes) {
    throw new AppError(
      'invalid',
      'door.socket_path_too_long',
      `the path of the local socket is longer than the system allows: ${path}`,
      {
        hint: 'Set SALLYPORT_HOME to a shorter path.',
      },
    );
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
  await clearStaleSocket(path);
  await listening(server, () => server.listen({ path }));
  await chmod(path, 0o600);
  return doorOf(server, 0);
}

async function clearStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new AppError('conflict', 'door.not_a_socket', `${path} is in the way: it is not a socket`, {
      hint: 'Move it away, then start again.',
    });
  }
  if (await answers(path)) {
    throw new AppError('conflict', 'door.daemon_running', `a daemon is already listening on ${path}`, {
      hint: 'Stop it with: sallyport down',
    });
  }
  await unlink(path);
}

/** True when something accepts connections there. */
export async function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    // Refused or gone is nobody; any other failure (a full backlog, no permission) is somebody we must not push aside.
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'));
  });
}

function listening(server: Server, start: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    start();
  });
}

function tcpFailure(error: NodeJS.ErrnoException, port: number, name: string): AppError {
  const other = `Stop what uses it, or choose another with --${name}-port or ${name}_port in sallyport.yaml.`;
  if (error.code === 'EADDRINUSE') {
    return new AppError('conflict', 'door.port_taken', `port ${port} of 127.0.0.1, meant for the ${name} door, is taken`, {
      hint: other,
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new AppError('denied', 'door.port_denied', `the system does not let us listen on port ${port}`, {
      hint: `Choose a port above 1023 with --${name}-port.`,
      cause: error,
    });
  }
  return new AppError(
    'unavailable',
    'door.cannot_listen',
    `the ${name} door cannot listen on port ${port}: ${error.code ?? error.message}`,
    { cause: error },
  );
}

function doorOf(server: Server, port: number): Door {
  return {
    port,
    close: (graceMs) =>
      new Promise((resolve) => {
        const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
        // A connection kept alive turns idle only after its last answer, which may be after the close.
        const sweep = setInterval(() => server.closeIdleConnections(), 20);
        server.close(() => {
          clearTimeout(deadline);
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
