// What is open, what was refused lately, and what may still be spent, each found by the question or call it belongs to.
// Memory only: the rows decide, this saves looking at them for calls that have nothing there.
import type { Digest } from '../../kernel/ports.ts';
import { callOf, denialMemoryMs, questionOf, type Approval, type CallParts } from './model.ts';

export interface Board {
  /** Puts an approval where its state belongs; what was known of it before is forgotten. */
  put(approval: Approval): void;
  /** It never came to be. */
  remove(approval: Approval): void;
  open(question: string, now: number): Approval | undefined;
  openOf(agent: string, now: number): Approval[];
  /** The denial that still answers this question. */
  denial(question: string, now: number): Approval | undefined;
  /** Takes an approved call of this policy version off the board, so that no other call finds it. */
  take(call: CallParts, policyVersion: string, now: number): Approval | undefined;
}

export function createBoard(digest: Digest): Board {
  const open = new Map<string, Approval>();
  const openByAgent = new Map<string, Map<string, Approval>>();
  const denials = new Map<string, Approval>();
  const spendable = new Map<string, Approval[]>();

  function forget(approval: Approval, question: string): void {
    if (open.get(question)?.id === approval.id) open.delete(question);
    const ofAgent = openByAgent.get(approval.agent);
    if (ofAgent?.delete(approval.id) === true && ofAgent.size === 0) openByAgent.delete(approval.agent);
    if (approval.origin === 'call') dropSpendable(callOf(approval, digest), ({ id }) => id !== approval.id);
  }

  function dropSpendable(call: string, keep: (approval: Approval) => boolean): void {
    const left = spendable.get(call)?.filter(keep) ?? [];
    if (left.length === 0) spendable.delete(call);
    else spendable.set(call, left);
  }

  /** Both are made by people, one by one, so going through them costs nothing. */
  function dropOld(now: number): void {
    for (const [question, denial] of denials) if (deniedUntil(denial) <= now) denials.delete(question);
    for (const call of spendable.keys()) dropSpendable(call, (approval) => (approval.usableUntil ?? 0) > now);
  }

  return {
    put(approval) {
      const question = questionOf(approval, digest);
      forget(approval, question);
      dropOld(approval.decidedAt ?? approval.requestedAt);
      if (approval.state === 'pending') {
        open.set(question, approval);
        const ofAgent = openByAgent.get(approval.agent) ?? new Map<string, Approval>();
        openByAgent.set(approval.agent, ofAgent.set(approval.id, approval));
      } else if (approval.state === 'denied') {
        denials.set(question, approval);
      } else if (approval.state === 'approved' && approval.origin === 'call' && approval.usedAt === undefined) {
        const call = callOf(approval, digest);
        spendable.set(call, [...(spendable.get(call) ?? []), approval]);
      }
    },

    remove: (approval) => forget(approval, questionOf(approval, digest)),

    open(question, now) {
      const found = open.get(question);
      return found !== undefined && found.expiresAt > now ? found : undefined;
    },

    openOf: (agent, now) => [...(openByAgent.get(agent)?.values() ?? [])].filter(({ expiresAt }) => expiresAt > now),

    denial(question, now) {
      const found = denials.get(question);
      return found !== undefined && deniedUntil(found) > now ? found : undefined;
    },

    take(call, policyVersion, now) {
      if (spendable.size === 0) return undefined;
      const key = callOf(call, digest);
      const found = spendable
        .get(key)
        ?.find((approval) => approval.policyVersion === policyVersion && (approval.usableUntil ?? 0) > now);
      if (found !== undefined) dropSpendable(key, ({ id }) => id !== found.id);
      return found;
    },
  };
}

/** The instant from which the question may be asked anew. */
export function deniedUntil({ decidedAt = 0 }: Approval): number {
  return decidedAt + denialMemoryMs;
}
