// The upstream sessions of agent sessions, where an upstream keeps state for each: opened at the first call, bounded in number, closed when
// the agent's session ends or nobody used it for a while. Knows no health and no tool.
import { AppError } from '../../kernel/errors.ts';
import type { Clock, Unsubscribe, UpstreamConnection } from '../../kernel/ports.ts';

export interface AgentSessionsDeps {
  readonly upstream: string;
  /** Opens one more session with the upstream. */
  readonly open: () => Promise<UpstreamConnection>;
  readonly clock: Clock;
  readonly capacity: number;
}

export interface AgentSessions {
  /**
   * Runs `work` on the connection of this agent session, which is opened when there is none. Rejects with `fleet.overloaded` when there
   * is no room for one more, or as `open` does.
   */
  use<T>(session: string, work: (connection: UpstreamConnection | Promise<UpstreamConnection>) => Promise<T>): Promise<T>;
  end(session: string): void;
  count(): number;
  close(): Promise<void>;
}

interface Entry {
  readonly opening: Promise<UpstreamConnection>;
  /** The same once it is there. */
  connection: UpstreamConnection | undefined;
  inUse: number;
  /** Monotonic milliseconds. */
  usedAt: number;
}

export const agentSessionIdleMs = 10 * 60_000;
const sweepMs = 60_000;
const graceMs = 2_000;

export function createAgentSessions({ upstream, open, clock, capacity }: AgentSessionsDeps): AgentSessions {
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();
  let stopSweep: Unsubscribe | undefined;

  function entryOf(session: string): Entry {
    const known = entries.get(session);
    if (known !== undefined) return known;
    if (entries.size >= capacity) throw full();
    const entry: Entry = { opening: open(), connection: undefined, inUse: 0, usedAt: clock.monotonic() };
    entries.set(session, entry);
    const forget = (): void => {
      if (entries.get(session) === entry) entries.delete(session);
    };
    entry.opening.then((connection) => {
      entry.connection = connection;
      void connection.closed.then(forget);
    }, forget);
    stopSweep ??= clock.after(sweepMs, sweep);
    return entry;
  }

  function full(): AppError {
    const now = clock.monotonic();
    const idle = [...entries.values()].filter(({ inUse }) => inUse === 0).map(({ usedAt }) => usedAt + agentSessionIdleMs - now);
    return new AppError(
      'limited',
      'fleet.overloaded',
      `Upstream '${upstream}' is at its capacity: ${capacity} agent sessions are open on it, and no more are allowed.`,
      {
        hint: 'End sessions that are not needed, wait until an idle one is closed, or ask the human to raise maxSessions in sallyport.yaml.',
        retryAfterMs: Math.max(1_000, Math.min(agentSessionIdleMs, ...idle)),
        data: { sent: false, capacity },
      },
    );
  }

  function sweep(): void {
    const before = clock.monotonic() - agentSessionIdleMs;
    for (const [session, entry] of entries) if (entry.inUse === 0 && entry.usedAt <= before) end(session);
    stopSweep = entries.size === 0 ? undefined : clock.after(sweepMs, sweep);
  }

  function end(session: string): void {
    const entry = entries.get(session);
    if (entry === undefined) return;
    entries.delete(session);
    const closed = entry.opening.then(
      (connection) => connection.close(graceMs),
      () => undefined,
    );
    closing.add(closed);
    void closed.finally(() => closing.delete(closed));
  }

  return {
    async use(session, work) {
      const entry = entryOf(session);
      entry.inUse += 1;
      try {
        return await work(entry.connection ?? entry.opening);
      } finally {
        entry.inUse -= 1;
        entry.usedAt = clock.monotonic();
      }
    },
    end,
    count: () => entries.size,
    async close() {
      stopSweep?.();
      stopSweep = undefined;
      for (const session of entries.keys()) end(session);
      await Promise.all(closing);
    },
  };
}
