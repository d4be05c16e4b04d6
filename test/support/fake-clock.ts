// A clock that moves only when a test says so. Timers fire in the order of their instants, then of their making.
import type { Clock } from '../../src/kernel/ports.ts';

export interface FakeClock extends Clock {
  /** Moves on by `ms`, firing what falls due on the way, each at its own instant. */
  advance(ms: number): void;
  /** Timers that wait now. */
  pending(): number;
}

/** `start`: milliseconds since the Unix epoch. */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<{ readonly due: number; readonly task: () => void }>();
  let elapsed = 0;
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, task) {
      const timer = { due: elapsed + Math.max(0, ms), task };
      timers.add(timer);
      return () => timers.delete(timer);
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
