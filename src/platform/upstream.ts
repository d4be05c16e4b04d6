// Opens MCP sessions with upstreams over stdio: child, framing and peer joined, with one deadline that owns the child until the handshake
// is done. One that speaks 2026-07-28 alone says so when it is asked to initialize. Knows no policy, no pins and no retry.
import type { ClientHost } from '../kernel/client-host.ts';
import { AppError, asAppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Child, ChildExit, ChildSpec, Clock, Log, Spawner, UpstreamConnection, UpstreamConnector } from '../kernel/ports.ts';
import { createTextTail, type TextTail } from '../lib/text-tail.ts';
import { createPeer, type Peer } from '../wire/peer.ts';
import { initialize } from '../wire/upstream-2025.ts';
import { namesRevision } from '../wire/upstream-2026.ts';
import { openModern } from './upstream-modern.ts';

const stderrTailChars = 4_096;
/** A child that never came to serve has little to put in order. */
const failedStartGraceMs = 500;

export interface UpstreamConnectorDeps {
  readonly spawner: Spawner;
  readonly clock: Clock;
  readonly log: Log;
  /** Told to upstreams as `clientInfo`. */
  readonly client: { readonly name: string; readonly version: string };
}

export function createUpstreamConnector({ spawner, clock, log, client }: UpstreamConnectorDeps): UpstreamConnector {
  return {
    async open(spec: ChildSpec, { startTimeoutMs, signal, host, declares }) {
      const startedAt = clock.monotonic();
      const child = await spawner.spawn(spec);
      const link = connect(child, { clock, log, host });
      try {
        const left = (): number => Math.max(1, startTimeoutMs - (clock.monotonic() - startedAt));
        try {
          const handshake = await initialize(link.peer, client, { signal, timeoutMs: left(), host, declares });
          return { pid: child.pid, ...handshake, ...sessionOf(link, child) };
        } catch (thrown) {
          const said = asAppError(thrown).data?.['rpc'];
          const modern = said !== undefined && namesRevision(said as JsonObject);
          const session = modern ? await openModern(link, { clock, info: client, signal, timeoutMs: left() }) : undefined;
          if (session === undefined) throw thrown;
          return { pid: child.pid, ...sessionOf(link, child), ...session };
        }
      } catch (thrown) {
        const error = asAppError(thrown);
        await child.stop(error.code === 'fleet.timeout' ? 0 : failedStartGraceMs);
        throw startFailed(error, await link.closed, startTimeoutMs);
      }
    },
  };
}

type NotificationListener = (method: string, params: JsonObject | undefined, text: string | undefined) => void;

interface Link {
  readonly peer: Peer;
  readonly closed: UpstreamConnection['closed'];
  readonly listeners: NotificationListener[];
}

interface LinkDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly host: ClientHost | undefined;
}

function connect(child: Child, { clock, log, host }: LinkDeps): Link {
  const stderr: TextTail = createTextTail(stderrTailChars);
  const listeners: NotificationListener[] = [];
  const broken = (error: AppError): void => {
    log.warn('an upstream broke the protocol and is stopped', { pid: child.pid, reason: error.message });
    peer.end(error);
    void child.stop(failedStartGraceMs);
  };
  const peer = createPeer({
    clock,
    host,
    send: (line) => void child.writeLine(line),
    onNotification: (...notice) => listeners.forEach((listener) => listener(...notice)),
    onBroken: broken,
  });
  child.onStderr((text) => stderr.push(text));
  child.onFault((fault) => (fault === 'oversize' ? broken(tooLong()) : peer.dropped()));
  child.onLine((line) => peer.receive(line));
  const closed = child.exited.then((exit) => {
    peer.end(exited(exit));
    return { ...exit, stderrTail: stderr.read() };
  });
  return { peer, closed, listeners };
}

function sessionOf(
  { peer, closed, listeners }: Link,
  child: Child,
): Omit<UpstreamConnection, 'pid' | 'protocolVersion' | 'capabilities' | 'serverInfo'> {
  return {
    request: (method, params, options) => peer.request(method, params, options),
    subscribe: (uri, options) => peer.request('resources/subscribe', JSON.stringify({ uri }), options),
    unsubscribe: (uri, options) => peer.request('resources/unsubscribe', JSON.stringify({ uri }), options),
    notify: (method, params) => peer.notify(method, params),
    asking: () => peer.asking(),
    onNotification: (listener) => void listeners.push(listener),
    closed,
    async close(graceMs) {
      peer.end(new AppError('unavailable', 'fleet.exited', 'The upstream was stopped.', { data: { sent: true } }));
      await child.stop(graceMs);
    },
  };
}

function exited(exit: ChildExit): AppError {
  return new AppError('unavailable', 'fleet.exited', `The upstream ${howItEnded(exit)}; what the call did is unknown.`, {
    hint: 'If the call writes, look at what it did before calling again.',
    data: { sent: true, exit_code: exit.code, signal: exit.signal },
  });
}

function howItEnded({ code, signal }: ChildExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function tooLong(): AppError {
  return new AppError('unavailable', 'fleet.protocol', 'The upstream wrote a line longer than the gateway takes.', {
    data: { sent: true },
  });
}

/** One error for every way not to start; the stderr tail is for the operator and stays in `data`. */
function startFailed(error: AppError, exit: ChildExit & { readonly stderrTail: string }, startTimeoutMs: number): AppError {
  const reason =
    error.code === 'fleet.timeout'
      ? `it did not answer initialize within ${startTimeoutMs} ms`
      : error.code === 'fleet.exited'
        ? `it ${howItEnded(exit)} before it answered initialize`
        : error.message;
  return new AppError('unavailable', 'fleet.start_failed', `The upstream did not start: ${reason}.`.replace('..', '.'), {
    hint: 'The operator sees what it wrote to stderr with: sallyport upstream ls',
    data: { sent: false, cause: error.code, exit_code: exit.code, signal: exit.signal, stderr_tail: exit.stderrTail },
    cause: error,
  });
}
