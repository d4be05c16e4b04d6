// Callers that wait for a decision: woken by it, never asking for it again and again. Knows no row and no rule.
import type { Clock, Unsubscribe } from '../../kernel/ports.ts';
import type { Approval } from './model.ts';

export interface Waiting {
  /** `outcome` resolves with the decided approval, or `undefined` when the time is over, the signal aborts or the daemon closes. */
  start(
    id: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): { readonly outcome: Promise<Approval | undefined>; readonly stop: () => void };
  wake(approval: Approval): void;
  close(): void;
}

type Waiter = (approval: Approval | undefined) => void;

export function createWaiting(clock: Clock): Waiting {
  const waiters = new Map<string, Set<Waiter>>();

  function add(id: string, waiter: Waiter): Unsubscribe {
    const ofThis = waiters.get(id) ?? new Set();
    waiters.set(id, ofThis.add(waiter));
    return () => {
      ofThis.delete(waiter);
      if (ofThis.size === 0 && waiters.get(id) === ofThis) waiters.delete(id);
    };
  }

  function wakeAll(id: string, approval: Approval | undefined): void {
    for (const waiter of waiters.get(id) ?? []) waiter(approval);
  }

  return {
    start(id, timeoutMs, signal) {
      let finish: Waiter = () => undefined;
      const outcome = new Promise<Approval | undefined>((resolve) => {
        finish = resolve;
      });
      const giveUp = (): void => finish(undefined);
      const remove = add(id, (approval) => finish(approval));
      const cancelTimer = clock.after(timeoutMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      return {
        outcome,
        stop() {
          remove();
          cancelTimer();
          signal.removeEventListener('abort', giveUp);
        },
      };
    },
    wake: (approval) => wakeAll(approval.id, approval),
    close() {
      for (const id of waiters.keys()) wakeAll(id, undefined);
    },
  };
}
