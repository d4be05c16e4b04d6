// Exchanges over plain HTTP on connections of our own: opened when none is free, kept for a while, closed before the other side would.
// Knows no answer.
import { connect, type Socket } from 'node:net';
import { guardedLookup } from './guarded-lookup.ts';
import { openConnection, type Connection, type ConnectionDeps } from './http-connection.ts';
import type { HttpClient, HttpExchange, HttpReader, HttpRequest, Route } from './http-exchange.ts';
import { connectTimeoutMs, keptIdleMs, maxKept } from './http-node-client.ts';

interface Kept {
  readonly connection: Connection;
  readonly until: number;
}

const sweepMs = 500;

class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';
}

export function createPlainClient({ resume }: Pick<ConnectionDeps, 'resume'>): HttpClient {
  /** By pool; the one that was used last is taken first, so that the others grow old. */
  const kept = new Map<string, Kept[]>();
  const open = new Set<Connection>();
  let sweeping: NodeJS.Timeout | undefined;

  function start(request: HttpRequest, reader: HttpReader): HttpExchange {
    return (free(request.route) ?? dial(request.route)).start(request, reader);
  }

  function free({ pool }: Route): Connection | undefined {
    const idle = kept.get(pool);
    for (let last = idle?.pop(); last !== undefined; last = idle?.pop()) {
      if (last.until > performance.now() && last.connection.usable()) return last.connection;
      last.connection.cut();
    }
    return undefined;
  }

  function dial({ host, port, addresses, pool }: Route): Connection {
    const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 };
    const socket = connect(addresses === 'any' ? options : { ...options, lookup: guardedLookup(addresses) });
    limit(socket);
    const connection = openConnection(socket, {
      resume,
      // On a fresh connection, and only once.
      again: (request, reader) => dial(request.route).start({ ...request, repeatable: false }, reader),
      free: (freed, keepMs) => keep(pool, freed, Math.min(keptIdleMs, keepMs ?? keptIdleMs)),
      closed: (closed) => void open.delete(closed),
    });
    open.add(connection);
    return connection;
  }

  function keep(pool: string, connection: Connection, keepMs: number): void {
    const idle = kept.get(pool) ?? [];
    kept.set(pool, idle);
    if (idle.length >= maxKept || !open.has(connection)) connection.cut();
    else idle.push({ connection, until: performance.now() + keepMs });
    sweeping ??= setInterval(sweep, sweepMs).unref();
  }

  function sweep(): void {
    const now = performance.now();
    for (const [pool, idle] of kept) {
      const young = idle.filter(({ connection, until }) => {
        if (until <= now) connection.cut();
        return until > now;
      });
      if (young.length === 0) kept.delete(pool);
      else kept.set(pool, young);
    }
    if (kept.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  }

  return {
    start,
    close() {
      clearInterval(sweeping);
      sweeping = undefined;
      kept.clear();
      for (const connection of open) connection.cut();
    },
  };
}

function limit(socket: Socket): void {
  const patience = setTimeout(() => socket.destroy(new TimedOut()), connectTimeoutMs);
  const settle = (): void => clearTimeout(patience);
  socket.once('connect', settle);
  socket.once('close', settle);
}
