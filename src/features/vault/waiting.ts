// Callers that need a secret while the vault is locked: so many at most, woken when it opens, told every 10 s that they wait, and sent
// away in time (DESIGN §5, Waiting). Knows no key and no reference.
import type { Clock } from '../../kernel/ports.ts';
import { busy, locked } from './refusals.ts';

export const mostWaiting = 64;
/** Without progress nobody can tell a wait from a hang; with it the bound is the patience of a person. */
const patienceMs = 55_000;
const patienceWithProgressMs = 10 * 60_000;
const progressEveryMs = 10_000;

export interface Patience {
  readonly signal: AbortSignal;
  /** Whose call the value is for, where it is one agent's. */
  readonly agent?: string;
  /** Called every 10 s with the seconds waited; the wait may then last ten minutes, else 55 s. */
  readonly onProgress?: (seconds: number) => void;
}

export interface Waiting {
  /** Resolves when the vault opens. Rejects with `vault.locked` when time or caller is gone, with `vault.busy` when too many wait. */
  forOpen(patience: Patience): Promise<void>;
  /** The vault is open. */
  wake(): void;
  /** Nobody will open it any more. */
  close(): void;
}

export function createWaiting(clock: Clock): Waiting {
  const waiters = new Set<(opened: boolean) => void>();

  function wakeAll(opened: boolean): void {
    for (const wake of waiters) wake(opened);
  }

  return {
    async forOpen({ signal, onProgress }) {
      if (waiters.size >= mostWaiting) throw busy();
      const startedAt = clock.monotonic();
      let wake: (opened: boolean) => void = () => undefined;
      const outcome = new Promise<boolean>((resolve) => {
        wake = resolve;
      });
      waiters.add(wake);
      const giveUp = (): void => wake(false);
      const cancelDeadline = clock.after(onProgress === undefined ? patienceMs : patienceWithProgressMs, giveUp);
      const tell = (): void => onProgress?.(Math.round((clock.monotonic() - startedAt) / 1_000));
      const cancelProgress = onProgress === undefined ? undefined : repeat(clock, tell);
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      try {
        if (!(await outcome)) throw locked();
      } finally {
        waiters.delete(wake);
        cancelDeadline();
        cancelProgress?.();
        signal.removeEventListener('abort', giveUp);
      }
    },
    wake: () => wakeAll(true),
    close: () => wakeAll(false),
  };
}

function repeat(clock: Clock, task: () => void): () => void {
  let cancel = clock.after(progressEveryMs, function again() {
    task();
    cancel = clock.after(progressEveryMs, again);
  });
  return () => cancel();
}
