// Ties the run of a decision to what was computed when it was shown: state may change in between, and what is signed must be what runs.
// The challenge of the proof is the tie; it is used once, so little is ever kept.
import { AppError } from '../../kernel/errors.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperationContext } from '../../kernel/operation.ts';

export interface ShownOnce<T> {
  /** Keeps it for the run under the same proof; nothing is kept while a statement is only prepared. */
  keep(caller: Caller, shown: T): void;
  /** With the facts of the proof. Throws `operator.proof_required` (kind denied) when nothing was shown under it. */
  take(context: Pick<OperationContext, 'caller' | 'proofFacts'>): { readonly shown: T; readonly proof: JsonObject };
}

const most = 8;

export function createShownOnce<T>(): ShownOnce<T> {
  const kept = new Map<string, T>();
  const challengeOf = (caller: Caller): string | undefined => (caller.kind === 'operator' ? caller.proof.challenge : undefined);
  return {
    keep(caller, shown) {
      const challenge = challengeOf(caller);
      if (challenge === undefined) return;
      kept.set(challenge, shown);
      const oldest = kept.size > most ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
    },
    take({ caller, proofFacts: proof }) {
      const challenge = challengeOf(caller);
      const shown = challenge === undefined ? undefined : kept.get(challenge);
      if (challenge === undefined || shown === undefined || proof === undefined) {
        throw new AppError('denied', 'operator.proof_required', 'This needs the operator’s signature over what is shown.');
      }
      kept.delete(challenge);
      return { shown, proof };
    },
  };
}
