// An approval: a question to a person about one exact thing. pending → approved | denied | expired; approved calls → used.
import type { JsonObject } from '../../kernel/json.ts';
import type { Guard } from '../policy/model.ts';

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired';

/** `call`: buys one execution with exactly these arguments. `request`: buys a grant for its ttl with any arguments. */
export type ApprovalOrigin = 'call' | 'request';

export interface Approval {
  /** UUID, unguessable. */
  readonly id: string;
  readonly agent: string;
  readonly origin: ApprovalOrigin;
  readonly capability: string;
  /** The rule that asked. */
  readonly rule: string;
  /** What the agent said; shown to the person marked as the agent's words. */
  readonly reason: string;
  /** `call` only: exact arguments and the hash of the tool definition they go to. */
  readonly args?: JsonObject;
  readonly argsHash?: string;
  readonly toolHash?: string;
  readonly ttlMs: number;
  readonly guards: readonly Guard[];
  readonly policyVersion: string;
  /** Milliseconds since the Unix epoch. */
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
  readonly decidedAt?: number;
  /** A denial's words, for the agent. */
  readonly decisionReason?: string;
  /** `call` only: when the one execution was taken. */
  readonly usedAt?: number;
}

export type ApprovalErrorCode =
  | 'approvals.not_found'
  | 'approvals.not_pending'
  | 'approvals.expired'
  | 'approvals.too_many' // 5 open per agent
  | 'approvals.rate_limited'
  | 'approvals.pending'
  | 'approvals.denied';
