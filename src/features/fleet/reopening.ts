// Opens anew what was lost while somebody listens on it though nobody calls; ever more patiently while that fails. Knows no connection.
import type { Clock, Unsubscribe } from '../../kernel/ports.ts';

export interface Reopening {
  /** The connection of this key is gone. */
  lost(key: string): void;
  stop(): void;
}

export interface ReopeningDeps {
  readonly clock: Clock;
  /** Does anybody listen on it? */
  readonly wanted: (key: string) => boolean;
  readonly reopen: (key: string) => Promise<void>;
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export function createReopening({ clock, wanted, reopen }: ReopeningDeps): Reopening {
  const waiting = new Map<string, Unsubscribe>();

  function later(key: string, pauseMs: number): void {
    if (waiting.has(key) || !wanted(key)) return;
    const again = async (): Promise<void> => {
      waiting.delete(key);
      if (!wanted(key)) return;
      await reopen(key).catch(() => later(key, Math.min(longestPauseMs, pauseMs * 2)));
    };
    waiting.set(
      key,
      clock.after(pauseMs, () => void again()),
    );
  }

  return {
    lost: (key) => later(key, firstPauseMs),
    stop() {
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
