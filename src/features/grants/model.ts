// A grant: proof that a decision was made, never the decision itself (DESIGN invariant 2).
import type { Guard } from '../policy/model.ts';

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
  /** With origin `human`: a call counts as what the person said yes to only when its arguments satisfy all of these. */
  readonly guards?: readonly Guard[];
}

/** Whole seconds left, never below zero (gate contract, scopegate_list_capabilities). */
export function remainingSeconds({ expiresAt }: Grant, now: number): number {
  return Math.max(0, Math.floor((expiresAt - now) / 1_000));
}

export type GrantErrorCode =
  | 'grants.locked' // a stored grant cannot be read
  | 'grants.not_an_agent';
