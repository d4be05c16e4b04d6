// Puts the plain form of HTTP in front of node's HTTP server: a connection is read by fast-connection.ts for as long as all on it is
// plain, and by node's own listener from the first thing that is not. Listening, limits and everything unusual stay with the server.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { openFastConnection, type FastConnection, type FastDeps } from './fast-connection.ts';

/** Call it before the server listens. */
export function putFastFormBefore(server: Server, deps: Omit<FastDeps, 'handOver' | 'left' | 'now'>): void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const connections = new Set<FastConnection>();
  const fast: FastDeps = {
    ...deps,
    handOver: (socket) => listeners.forEach((listener) => listener.call(server, socket)),
    left: (connection) => void connections.delete(connection),
    now: () => performance.now(),
  };
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => void connections.add(openFastConnection(socket, fast)));

  const checking = setInterval(() => connections.forEach((connection) => connection.check()), Math.min(1_000, deps.headTimeoutMs));
  checking.unref();
  server.on('close', () => clearInterval(checking));

  // The server knows of a connection only once its parser has it.
  const closeIdle = server.closeIdleConnections.bind(server);
  const closeAll = server.closeAllConnections.bind(server);
  server.closeIdleConnections = () => {
    connections.forEach((connection) => connection.endIfIdle());
    closeIdle();
  };
  server.closeAllConnections = () => {
    connections.forEach((connection) => connection.cut());
    closeAll();
  };
}
