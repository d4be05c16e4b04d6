// Something said again and again until it is called off. Knows nothing of what is said.
import type { Clock, Unsubscribe } from '../../kernel/ports.ts';

/** DESIGN §5 Waiting: how often a wait says that it goes on. */
export const progressEveryMs = 10_000;

/** Runs `task` every `ms` milliseconds, the first time after so long. */
export function every(clock: Clock, ms: number, task: () => void): Unsubscribe {
  let cancel = clock.after(ms, function again() {
    task();
    cancel = clock.after(ms, again);
  });
  return () => cancel();
}
