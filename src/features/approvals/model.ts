// An approval: a question to a person about one exact thing. pending → approved | denied | expired; approved calls → used.
// Pure: the state at an instant, the identity of a question, and the sentence that says what a yes would buy.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Digest } from '../../kernel/ports.ts';
import { encodeHex } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { formatTtl, type Guard } from '../policy/model.ts';

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired';

/**
 * `call`: buys one execution with exactly these arguments. `request`: buys a grant for its ttl with any arguments. `registration`: puts an
 * upstream among those of the gateway, and nothing else.
 */
export const approvalOrigins = ['call', 'request', 'registration'] as const;
export type ApprovalOrigin = (typeof approvalOrigins)[number];

/** What a call or request puts to a person. */
export interface Question {
  readonly agent: string;
  readonly origin: ApprovalOrigin;
  readonly capability: string;
  /** The rule that asked. */
  readonly rule: string;
  /** What the agent said; shown to the person marked as the agent's words. */
  readonly reason: string;
  /** Exact arguments of a call, and the hash of the tool definition they go to; of a registration what is proposed. */
  readonly args?: JsonObject;
  readonly toolHash?: string;
  readonly ttlMs: number;
  readonly guards: readonly Guard[];
}

export interface Approval extends Question {
  /** UUID, unguessable. */
  readonly id: string;
  /** Under which it was asked; once decided, under which it was decided. */
  readonly policyVersion: string;
  /** Milliseconds since the Unix epoch. */
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
  /** When it was approved or denied; of a pending or expired one absent. */
  readonly decidedAt?: number;
  /** A denial's words, for the agent. */
  readonly decisionReason?: string;
  /** Approved `call` only: the one execution must start before this. */
  readonly usableUntil?: number;
  /** `call` only: when the one execution was taken. */
  readonly usedAt?: number;
  /** What proves the decision: facts of the operator's verified signature. */
  readonly proof?: JsonObject;
}

/** A denial is repeated to the same question for so long, in milliseconds (DESIGN §5 Waiting). */
export const denialMemoryMs = 10 * 60_000;

/** Open approvals of one agent at a time (DESIGN §5 Waiting). */
export const mostOpen = 5;

/** What makes two questions the same. */
export type QuestionParts = Omit<Question, 'rule' | 'reason'>;

/**
 * The identity of a question: hash of agent, origin, capability, exact arguments (none is not the same as empty), tool definition,
 * ttl and guards. The reason is not in it: other words do not make another question.
 */
export function questionOf(parts: QuestionParts, digest: Digest): string {
  const { agent, origin, capability, args = null, toolHash = null, ttlMs, guards } = parts;
  return hashed(['question', agent, origin, capability, args, toolHash, ttlMs, guards], digest);
}

/** A call, as far as an approval is about it. */
export interface CallParts {
  readonly agent: string;
  readonly capability: string;
  readonly args?: JsonObject | undefined;
  readonly toolHash?: string;
}

/** The identity of the call an approval of origin `call` buys, as the call itself knows it. */
export function callOf(parts: CallParts, digest: Digest): string {
  const { agent, capability, args = null, toolHash = null } = parts;
  return hashed(['call', agent, capability, args, toolHash], digest);
}

function hashed(parts: Json, digest: Digest): string {
  return encodeHex(digest.sha256(canonicalJson(parts)));
}

/** Nobody decided in time: true from the very instant, whether or not the row was closed yet. */
export function stateAt(approval: Approval, now: number): ApprovalState {
  return approval.state === 'pending' && approval.expiresAt <= now ? 'expired' : approval.state;
}

/** What a yes would buy, in the words the person signs. `windowMs`: how long after the decision a call may start. */
export function purchase(approval: Approval, ttlMs: number, windowMs: number): string {
  const { agent, capability, origin, guards } = approval;
  if (origin === 'call') {
    return `one execution of ${capability} by ${agent} with exactly these arguments, started within ${formatTtl(windowMs)} of the approval`;
  }
  if (origin === 'registration') {
    const name = capability.split(':').slice(2).join(':');
    return `the upstream '${name}' in sallyport.yaml: written, accepted and started; its first list of tools is accepted, and the policy decides who may call them`;
  }
  const limit = guards.length === 0 ? 'any arguments' : 'any arguments that satisfy its guards';
  return `a grant for ${capability} to ${agent} for ${formatTtl(ttlMs)} with ${limit}`;
}

export type ApprovalErrorCode =
  | 'approvals.not_found'
  | 'approvals.not_pending'
  | 'approvals.expired'
  | 'approvals.too_many' // 5 open per agent
  | 'approvals.pending'
  | 'approvals.denied'
  | 'approvals.bad_ttl' // --ttl only shortens, and only a grant has one
  | 'approvals.unproved' // a decision without the facts of its signature
  | 'approvals.no_deed' // nobody knows how to do what was approved
  | 'approvals.locked'; // a stored approval cannot be read
