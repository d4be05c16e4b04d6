// An approval as a person reads it: in lists, whole, and as the facts under a signature. Only shapes; decides nothing.
import { z } from 'zod';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperationContext } from '../../kernel/operation.ts';
import { printable } from '../../lib/printable.ts';
import { formatTtl } from '../policy/model.ts';
import { approvalOrigins, type Approval } from './model.ts';

export const approvalId = z.string().min(1).max(64).describe('The id of the approval.');

const args = z.record(z.string(), z.json());
const instant = z.iso.datetime();

export const row = z.strictObject({
  approval_id: z.string(),
  agent: z.string(),
  capability: z.string(),
  origin: z.enum(approvalOrigins),
  /** The agent's own words. */
  reason: z.string(),
  /** Of a call: exactly what would be sent; of a registration: what is proposed. */
  args: args.optional(),
  ttl: z.string(),
  requested_at: instant,
  expires_at: instant,
  state: z.enum(['pending', 'approved', 'denied', 'expired']),
  rule: z.string(),
});
export type Row = z.infer<typeof row>;

export const whole = row.extend({
  buys: z.string(),
  guards: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
  tool_hash: z.string().optional(),
  policy_version: z.string(),
  decided_at: instant.optional(),
  decision_reason: z.string().optional(),
  /** Of an approved call: it must start before this. */
  usable_until: instant.optional(),
  used_at: instant.optional(),
});
export type Whole = z.infer<typeof whole>;

const text = (ms: number): string => new Date(ms).toISOString();

export function toRow(approval: Approval): Row {
  return {
    approval_id: approval.id,
    agent: approval.agent,
    capability: approval.capability,
    origin: approval.origin,
    reason: approval.reason,
    ...(approval.args !== undefined && { args: approval.args as Row['args'] }),
    ttl: formatTtl(approval.ttlMs),
    requested_at: text(approval.requestedAt),
    expires_at: text(approval.expiresAt),
    state: approval.state,
    rule: approval.rule,
  };
}

export function toWhole(approval: Approval, buys: string): Whole {
  const { toolHash, decidedAt, decisionReason, usableUntil, usedAt } = approval;
  return {
    ...toRow(approval),
    buys,
    guards: approval.guards.map((guard) => ({ ...guard })),
    ...(toolHash !== undefined && { tool_hash: toolHash }),
    policy_version: approval.policyVersion,
    ...(decidedAt !== undefined && { decided_at: text(decidedAt) }),
    ...(decisionReason !== undefined && { decision_reason: decisionReason }),
    ...(usableUntil !== undefined && { usable_until: text(usableUntil) }),
    ...(usedAt !== undefined && { used_at: text(usedAt) }),
  };
}

/** What a person decides on, whichever way: every fact of the question. The agent's words are marked as such and made harmless. */
export function toShown(approval: Approval, policyVersion: string): JsonObject {
  const { toolHash, args = null } = approval;
  return {
    approval: approval.id,
    agent: approval.agent,
    capability: approval.capability,
    origin: approval.origin,
    ...(approval.origin === 'call' && { arguments: args }),
    ...(approval.origin === 'registration' && { proposed: args }),
    ...(toolHash !== undefined && { tool_definition: toolHash }),
    ...(approval.guards.length > 0 && { guards: approval.guards }),
    rule: approval.rule,
    agent_says: approval.reason === '' ? '(nothing)' : `“${printable(approval.reason)}”`,
    requested_at: text(approval.requestedAt),
    expires_at: text(approval.expiresAt),
    policy_version: policyVersion,
  };
}

/** The facts of the signature a decision stands on. The gateway puts them there; without them nothing is decided. */
export function proofOf({ proofFacts }: OperationContext): JsonObject {
  if (proofFacts !== undefined) return proofFacts;
  throw new AppError('internal', 'approvals.unproved', 'A decision came without the facts of its signature; nothing was done.');
}
