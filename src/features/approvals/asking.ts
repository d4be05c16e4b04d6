// Putting a question to a person: one open approval for one question, a memory for denials, and a bound for each agent.
import { AppError } from '../../kernel/errors.ts';
import type { Clock, Digest, Entropy } from '../../kernel/ports.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Limits } from '../policy/model.ts';
import { deniedUntil, type Board } from './board.ts';
import { mostOpen, questionOf, type Approval, type Question } from './model.ts';
import type { ApprovalStore } from './store.ts';

export interface AskingPorts {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly limits: (agent: string) => Pick<Limits, 'approvalTtlMs'>;
  readonly policyVersion: () => string;
}

interface Desk {
  readonly store: ApprovalStore;
  readonly board: Board;
  readonly settle: (approval: Approval) => void;
  readonly retract: (approval: Approval) => void;
}

/** `ask` of the face. */
export function createAsking(
  ports: AskingPorts,
  { store, board, settle, retract }: Desk,
): (question: Question, charge?: () => void) => Promise<Approval> {
  const { audit, clock, entropy, digest, limits, policyVersion } = ports;
  /** Questions whose commit is under way: the same one is not put twice, and nobody is given an approval that may not come to be. */
  const underWay = new Map<string, Promise<Approval>>();

  async function put(question: Question): Promise<Approval> {
    const now = clock.now();
    // A copy by value: what is asked, shown and hashed can no longer be changed by whoever asked.
    const approval: Approval = {
      ...structuredClone(question),
      id: entropy.uuid(),
      policyVersion: policyVersion(),
      requestedAt: now,
      expiresAt: now + limits(question.agent).approvalTtlMs,
      state: 'pending',
    };
    // On the board before the commit: it counts against the bound at once, and a decision that comes with the commit finds it there.
    settle(approval);
    try {
      await audit.commit(
        async (tx) => {
          await store.insert(tx, approval);
          return { value: undefined, entries: [recordOf(approval)] };
        },
        { keepsRights: true },
      );
    } catch (thrown) {
      retract(approval);
      throw thrown;
    }
    return approval;
  }

  function assertRoom(agent: string): void {
    const now = clock.now();
    const open = board.openOf(agent, now);
    if (open.length < mostOpen) return;
    const soonest = Math.min(...open.map(({ expiresAt }) => expiresAt - now));
    throw new AppError('limited', 'approvals.too_many', `${mostOpen} requests of this agent wait for a human already.`, {
      hint: 'Wait until one of them is decided or expires, then ask again.',
      retryAfterMs: soonest,
      data: { open: open.map(({ id }) => id) },
    });
  }

  return async (question: Question, charge?: () => void): Promise<Approval> => {
    const key = questionOf(question, digest);
    const same = underWay.get(key);
    if (same !== undefined) return same;
    const open = board.open(key, clock.now());
    if (open !== undefined) return open;
    const denial = board.denial(key, clock.now());
    if (denial !== undefined) throw deniedBefore(denial, clock.now());
    assertRoom(question.agent);
    charge?.();
    const approval = put(question).finally(() => underWay.delete(key));
    underWay.set(key, approval);
    return approval;
  };
}

function recordOf(approval: Approval): AuditEntry {
  const { id, agent, capability, origin, rule, ttlMs, expiresAt, policyVersion, toolHash, args, reason } = approval;
  const facts = { approval: id, agent, capability, origin, rule, ttl_ms: ttlMs, expires_at: expiresAt, policy: policyVersion };
  return {
    event: 'approval.requested',
    actor: `agent:${agent}`,
    facts: toolHash === undefined ? facts : { ...facts, tool_hash: toolHash },
    sealed: args === undefined ? { reason } : { reason, args: canonicalJson(args) },
  };
}

function deniedBefore(denial: Approval, now: number): AppError {
  const { id, decisionReason: reason = '' } = denial;
  return new AppError('denied', 'approvals.denied', `A human denied this request${reason === '' ? '.' : `: ${reason}`}`, {
    hint: 'Do not ask again for the same thing; choose another way or talk to the human.',
    retryAfterMs: deniedUntil(denial) - now,
    data: { approval_id: id, reason },
  });
}
