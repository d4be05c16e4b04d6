// The end of a question nobody answered: on time for whoever waits, and on the record as soon as there is one.
import type { Clock, Unsubscribe } from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import type { Approval } from './model.ts';
import type { ApprovalStore } from './store.ts';

interface ExpiryDeps {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly store: ApprovalStore;
  readonly settle: (approval: Approval) => void;
  readonly wake: (approval: Approval) => void;
}

/** After a failed commit, in milliseconds. */
const retryMs = 30_000;

export interface Expiry {
  /** Closes the approval at its `expiresAt` unless it was decided. */
  watch(approval: Approval): void;
  /** It was decided. */
  forget(id: string): void;
  close(): void;
}

export function createExpiry({ audit, clock, store, settle, wake }: ExpiryDeps): Expiry {
  const timers = new Map<string, Unsubscribe>();
  let closed = false;

  function arm(approval: Approval, ms: number): void {
    if (closed) return;
    timers.get(approval.id)?.();
    const timer = clock.after(Math.max(ms, 0), () => void due(approval));
    timers.set(approval.id, timer);
  }

  async function due(approval: Approval): Promise<void> {
    timers.delete(approval.id);
    // Timers run on a clock that is never set; `expiresAt` is of one that is.
    const left = approval.expiresAt - clock.now();
    if (left > 0) return arm(approval, left);
    const expired: Approval = { ...approval, state: 'expired' };
    try {
      // False when a decision was faster; it told everybody.
      if (await commit(expired)) settle(expired);
    } catch {
      // Expired is a fact of the clock, not of the log: whoever waits learns it now, the row is closed later.
      wake(expired);
      arm(approval, retryMs);
    }
  }

  function commit({ id, agent, capability }: Approval): Promise<boolean> {
    return audit.commit(
      async (tx) => {
        const closes = await store.expire(tx, id, clock.now());
        const facts = { approval: id, agent, capability };
        return { value: closes, entries: closes ? [{ event: 'approval.expired', actor: 'daemon', facts }] : [] };
      },
      { keepsRights: true },
    );
  }

  return {
    watch: (approval) => arm(approval, approval.expiresAt - clock.now()),
    forget(id) {
      timers.get(id)?.();
      timers.delete(id);
    },
    close() {
      closed = true;
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}
