// One timer that is set anew each time, also for weeks ahead. Knows nothing of what it wakes.
import type { Clock, Unsubscribe } from '../../../kernel/ports.ts';

export interface WakeTimer {
  /** In place of what was set before; milliseconds from now. */
  set(ms: number): void;
  clear(): void;
  /** Milliseconds until it wakes; `undefined` while it is not set. */
  leftMs(): number | undefined;
}

/** Timers of the system run no longer than 24 days, and some clocks are set meanwhile. */
const longestStepMs = 12 * 3_600_000;

export function createWakeTimer(clock: Clock, wake: () => void): WakeTimer {
  let cancel: Unsubscribe | undefined;
  let at: number | undefined;

  function step(until: number): void {
    cancel = clock.after(Math.min(until - clock.monotonic(), longestStepMs), () => {
      if (until > clock.monotonic()) {
        step(until);
        return;
      }
      at = undefined;
      wake();
    });
  }

  function clear(): void {
    cancel?.();
    at = undefined;
  }

  return {
    set(ms) {
      clear();
      at = clock.monotonic() + Math.max(0, ms);
      step(at);
    },
    clear,
    leftMs: () => (at === undefined ? undefined : Math.max(0, at - clock.monotonic())),
  };
}
