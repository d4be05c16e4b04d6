// Statements waiting for a signature, each under its single-use challenge. Memory only: a restart makes all of them void.
import type { Statement } from '../../kernel/dispatch.ts';

/** At most this many statements are open; the oldest gives way. */
export const mostOpen = 256;

export interface Challenges {
  open(statement: Statement): void;
  /** Takes the statement of this challenge for good: no second call gets it. */
  take(challenge: string): Statement | 'replayed' | undefined;
}

/**
 * A challenge is 256 random bits shown to whoever prepares it, and finding it proves nothing, so a plain map look-up leaks
 * nothing worth timing; the secret is in the signature, which the verifier checks.
 */
export function createChallenges(): Challenges {
  const waiting = new Map<string, Statement>();
  const taken = new Set<string>();

  return {
    open(statement) {
      waiting.set(statement.challenge, statement);
      if (waiting.size > mostOpen) dropOldest(waiting);
    },
    take(challenge) {
      const statement = waiting.get(challenge);
      if (statement === undefined) return taken.has(challenge) ? 'replayed' : undefined;
      waiting.delete(challenge);
      taken.add(challenge);
      if (taken.size > mostOpen) dropOldest(taken);
      return statement;
    },
  };
}

/** Maps and sets keep the order of insertion. */
function dropOldest(kept: { keys(): Iterable<string>; delete(key: string): boolean }): void {
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
