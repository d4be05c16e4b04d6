// A grant: proof that a decision was made, never the decision itself (DESIGN invariant 2).

/** `policy`: an auto-approve rule; `human`: a signed approval. */
export type GrantOrigin = 'policy' | 'human';

export interface Grant {
  readonly id: string;
  readonly agent: string;
  /** Literal, or a request pattern the policy decided as a whole. */
  readonly capability: string;
  readonly origin: GrantOrigin;
  readonly rule: string;
  readonly approvalId?: string;
  /** Milliseconds since the Unix epoch. */
  readonly grantedAt: number;
  readonly expiresAt: number;
  readonly ttlMs: number;
}

/** Whole seconds left, never below zero (gate contract, scopegate_list_capabilities). */
export function remainingSeconds({ expiresAt }: Grant, now: number): number {
  return Math.max(0, Math.floor((expiresAt - now) / 1_000));
}

export type GrantErrorCode =
  | 'grants.locked' // a stored grant cannot be read
  | 'grants.not_an_agent';
