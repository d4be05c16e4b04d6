// The upstream sessions of agent sessions or agents, where an upstream is not one for everybody: opened at the first call, bounded in
// number, closed when who they are for is gone or nobody used them for a while. Knows no health and no tool.
import type { ClientHost } from '../../kernel/client-host.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Clock, Unsubscribe, UpstreamConnection, UpstreamEnd } from '../../kernel/ports.ts';

export interface AgentSessionsDeps {
  readonly upstream: string;
  /** Opens one more session with the upstream, for whoever is behind the key; `host` is the client that came first. */
  readonly open: (key: string, host: ClientHost | undefined) => Promise<UpstreamConnection>;
  readonly clock: Clock;
  readonly capacity: number;
  readonly idleStopMs: number;
  /** Somebody waits to hear from it, though nobody calls. */
  readonly listensOn?: (key: string) => boolean;
  /** One ended that nobody here ended. */
  readonly left?: (key: string, end: UpstreamEnd) => void;
}

export interface AgentSessions {
  /**
   * Runs `work` on the connection of this key, which is opened when there is none; while it runs the connection is not idle. Rejects with
   * `fleet.overloaded` when there is no room for one more, or as `open` does.
   */
  use<T>(
    key: string,
    host: ClientHost | undefined,
    work: (connection: UpstreamConnection | Promise<UpstreamConnection>) => Promise<T>,
  ): Promise<T>;
  /** Of a key that has one. */
  live(key: string): UpstreamConnection | undefined;
  end(key: string): void;
  /** The same when its calls are done, or after `patienceMs`; whoever calls next gets another one. */
  retire(key: string, patienceMs: number): void;
  keys(): readonly string[];
  count(): number;
  close(): Promise<void>;
}

interface Entry {
  readonly opening: Promise<UpstreamConnection>;
  /** The same once it is there. */
  connection: UpstreamConnection | undefined;
  inUse: number;
  /** Called when nobody uses it any more. */
  unused: (() => void) | undefined;
  /** Monotonic milliseconds. */
  usedAt: number;
}

const slowestSweepMs = 60_000;
const graceMs = 2_000;

export function createAgentSessions(deps: AgentSessionsDeps): AgentSessions {
  const { upstream, open, clock, capacity, idleStopMs } = deps;
  const sweepMs = Math.min(slowestSweepMs, idleStopMs);
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();
  /** What was begun and is not gone yet, ended or not. */
  const occupied = new Set<Entry>();
  /** Ends the patience with those that were retired. */
  const hurry = new Set<() => void>();
  let stopSweep: Unsubscribe | undefined;

  function entryOf(key: string, host: ClientHost | undefined): Entry {
    const known = entries.get(key);
    if (known !== undefined) return known;
    if (entries.size >= capacity) throw full();
    const { promise: opening, resolve: begin } = Promise.withResolvers<UpstreamConnection>();
    const entry: Entry = { opening, connection: undefined, inUse: 0, unused: undefined, usedAt: clock.monotonic() };
    entries.set(key, entry);
    begin(occupied.size < capacity ? occupy(entry, key, host) : room().then(() => occupy(entry, key, host)));
    const forget = (): boolean => entries.get(key) === entry && entries.delete(key);
    entry.opening.then((connection) => {
      entry.connection = connection;
      void connection.closed.then((how) => {
        if (forget()) deps.left?.(key, how);
      });
    }, forget);
    stopSweep ??= clock.after(sweepMs, sweep);
    return entry;
  }

  function occupy(entry: Entry, key: string, host: ClientHost | undefined): Promise<UpstreamConnection> {
    occupied.add(entry);
    const opening = open(key, host);
    const leave = (): void => void occupied.delete(entry);
    opening.then(({ closed }) => closed.then(leave), leave);
    return opening;
  }

  /** A session that was ended takes its time to go, and so long its place. */
  async function room(): Promise<void> {
    while (occupied.size >= capacity && closing.size > 0) await Promise.race(closing);
  }

  function full(): AppError {
    const now = clock.monotonic();
    const waits = [...entries].filter(([key, entry]) => idle(key, entry)).map(([, { usedAt }]) => usedAt + idleStopMs - now);
    return new AppError(
      'limited',
      'fleet.overloaded',
      `Upstream '${upstream}' is at its capacity: ${capacity} agent sessions are open on it, and no more are allowed.`,
      {
        hint: 'End sessions that are not needed, wait until an idle one is closed, or ask the human to raise maxSessions in sallyport.yaml.',
        retryAfterMs: Math.max(1_000, Math.min(idleStopMs, ...waits)),
        data: { sent: false, capacity },
      },
    );
  }

  /** Not while somebody calls, is asked, or listens. */
  function idle(key: string, { inUse, connection }: Entry): boolean {
    return inUse === 0 && connection?.asking?.() !== true && deps.listensOn?.(key) !== true;
  }

  function sweep(): void {
    const before = clock.monotonic() - idleStopMs;
    for (const [key, entry] of entries) if (idle(key, entry) && entry.usedAt <= before) end(key);
    stopSweep = entries.size === 0 ? undefined : clock.after(sweepMs, sweep);
  }

  function end(key: string, patienceMs = 0): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    const done = patienceMs === 0 || entry.inUse === 0 ? undefined : quiet(entry, patienceMs);
    const closed = entry.opening.then(
      async (connection) => {
        await done;
        await connection.close(graceMs);
      },
      () => undefined,
    );
    closing.add(closed);
    void closed.finally(() => closing.delete(closed));
  }

  function quiet(entry: Entry, patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(patienceMs, resolve);
      hurry.add(resolve);
      entry.unused = () => {
        cancel();
        hurry.delete(resolve);
        resolve();
      };
    });
  }

  return {
    async use(key, host, work) {
      const entry = entryOf(key, host);
      entry.inUse += 1;
      try {
        return await work(entry.connection ?? entry.opening);
      } finally {
        entry.inUse -= 1;
        entry.usedAt = clock.monotonic();
        if (entry.inUse === 0) entry.unused?.();
      }
    },
    live: (key) => entries.get(key)?.connection,
    end: (key) => end(key),
    retire: end,
    keys: () => [...entries.keys()],
    count: () => entries.size,
    async close() {
      stopSweep?.();
      stopSweep = undefined;
      for (const key of entries.keys()) end(key);
      for (const resolve of hurry) resolve();
      await Promise.all(closing);
    },
  };
}
