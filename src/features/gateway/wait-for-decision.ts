// Waiting well (DESIGN §5): woken by the decision itself, progress each 10 s where the caller can take it, else an answer by 55 s.
import type { OperationContext } from '../../kernel/operation.ts';
import { actorOf } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Approval } from '../approvals/model.ts';
import type { Audit } from '../audit/audit.ts';
import { every, progressEveryMs } from './every.ts';
import type { ApprovalOffers } from './offer-approval.ts';

const defaultSeconds = 60;
const longestSeconds = 120;
const longestWithoutProgressSeconds = 55;

export interface WaitDeps {
  readonly approvals: Approvals;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly approvalOffers: Pick<ApprovalOffers, 'show'>;
}

/**
 * The approval as it stands when it was decided or the wait is over; every wait is on the record (`approval.waited`). A client that can
 * show it is shown that a person is needed, and may end the wait.
 */
export async function waitForDecision(
  { approvals, audit, clock, approvalOffers }: WaitDeps,
  approval: Approval,
  timeoutSeconds: number | undefined,
  context: OperationContext,
): Promise<Approval> {
  const most = context.canProgress ? longestSeconds : longestWithoutProgressSeconds;
  const seconds = Math.min(Math.max(Math.trunc(timeoutSeconds ?? defaultSeconds), 1), most);
  const startedAt = clock.monotonic();
  const elapsed = (): number => Math.round((clock.monotonic() - startedAt) / 1_000);
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  const { host, caller, signal } = context;
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const shown =
    host === undefined || caller.kind !== 'agent'
      ? undefined
      : approvalOffers.show(approval, caller, host, [], (waits) => {
          if (!waits) giveUp();
        });
  const stop = every(clock, progressEveryMs, () =>
    context.progress({ progress: elapsed(), total: seconds, message: `Waiting for a human: scopegate approve ${approval.id}` }),
  );
  let { state } = approval;
  try {
    const decided = await approvals.wait(approval.id, seconds * 1_000, over.signal);
    ({ state } = decided);
    audit.append({
      event: 'approval.waited',
      actor: actorOf(context.caller),
      facts: { approval: approval.id, seconds: elapsed(), state },
    });
    return decided;
  } finally {
    shown?.(state);
    signal.removeEventListener('abort', giveUp);
    stop();
  }
}
