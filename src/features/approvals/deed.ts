// What a yes does where it buys neither a call nor a grant: somebody else's effect, shown before and done in the commit of the decision.
// Knows no effect.
import type { Transaction } from '../../kernel/database.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { AuditEntry } from '../audit/model.ts';
import type { Approval } from './model.ts';

export interface Deed {
  /** Everything a person decides on besides the question itself, as it is now. */
  readonly shown: JsonObject;
  /**
   * Does exactly what was shown. `commit` commits the decision together with what `stage` writes, once; what it rejects with ends the
   * deed. Resolves with what the person is told of how it went.
   */
  carryOut(proof: JsonObject, commit: CommitDeed): Promise<DeedOutcome>;
}

export type CommitDeed = (stage: (tx: Transaction) => Promise<readonly AuditEntry[]>) => Promise<void>;

export interface DeedOutcome {
  readonly ok: boolean;
  /** A sentence. */
  readonly told: string;
}

/** Throws when it cannot be done any more, in words for the person. */
export type FindDeed = (approval: Approval) => Promise<Deed>;
