// A clock that moves only when a test says so. Timers fire in the order of their instants, then of their making. The turns of the event
// loop are no time and are the real ones.
import type { Clock } from '../../src/kernel/ports.ts';

export interface FakeClock extends Clock {
  /** Moves on by `ms`, firing what falls due on the way, each at its own instant. */
  advance(ms: number): void;
  /** Timers that wait now. */
  pending(): number;
  /** For good: neither a timer nor the end of a turn fires any more, as after a kill. */
  stop(): void;
}

/** `start`: milliseconds since the Unix epoch. */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<{ readonly due: number; readonly task: () => void }>();
  let elapsed = 0;
  let stopped = false;
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, task) {
      const timer = { due: elapsed + Math.max(0, ms), task };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    soon(task) {
      setImmediate(() => {
        if (!stopped) task();
      });
    },
    stop() {
      stopped = true;
      timers.clear();
    },
    advance(ms) {
      const until = elapsed + ms;
      for (;;) {
        // A set keeps the order of insertion, and the sort is stable.
        const [next] = [...timers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        timers.delete(next);
        elapsed = Math.max(elapsed, next.due);
        next.task();
      }
      elapsed = until;
    },
    pending: () => timers.size,
  };
}
