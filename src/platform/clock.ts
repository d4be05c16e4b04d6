// The system's clock and timers.
import type { Clock } from '../kernel/ports.ts';

/** Longest delay a Node timer takes (2^31 - 1 ms); it would fire at once beyond it. */
const longestTimerMs = 2_147_483_647;

export function createClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, task) {
      const due = performance.now() + ms;
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const left = Math.max(0, due - performance.now());
        // Armed again when it comes early: a timer counts from the start of the turn it was made in, which may be long past.
        timer = setTimeout(() => (performance.now() < due ? arm() : task()), Math.min(left, longestTimerMs));
        timer.unref();
      };
      arm();
      return () => clearTimeout(timer);
    },
    soon: (task) => void setImmediate(task),
  };
}
