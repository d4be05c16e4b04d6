// The nouns of policy: request, verdict, limits. The file format and the decision live beside it.
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Guard } from './guard.ts';

export const redactCategories = ['email', 'phone', 'card', 'aws_access_key'] as const;
/** `pii` in a policy file stands for all four. */
export type RedactCategory = (typeof redactCategories)[number];

export interface PolicyRequest {
  readonly agent: string;
  /** A literal or a request pattern (DESIGN §2 The capability language). */
  readonly capability: string;
  /** The arguments of a call; absent for an explicit request, where guards are carried instead of tested. */
  readonly args?: JsonObject;
  /** Of the accepted pin, for `annotations:` conditions; absent = none known. */
  readonly annotations?: ToolAnnotations;
  /** As the agent wrote it; what is no ttl answers `invalid_ttl`. */
  readonly requestedTtl?: string;
  readonly requestedTtlMs?: number;
}

export type DenyCode = 'no_policy' | 'no_rule' | 'ceiling_blocked' | 'invalid_ttl' | 'invalid_capability' | 'config_error';

interface Bound {
  /** The rule that decided, as written in the file. */
  readonly rule: string;
  /** min(requested, the deciding rule's ttl or the default, every ttl stated by a rule about any part of it, max_ttl), milliseconds. */
  readonly ttlMs: number;
  /** Union over all covering rules. */
  readonly redact: readonly RedactCategory[];
  /** Guards of all covering rules; empty when arguments were given and tested. */
  readonly guards: readonly Guard[];
  readonly reason: string;
}

export type Verdict =
  | ({ readonly effect: 'allow' } & Bound)
  | ({ readonly effect: 'ask' } & Bound)
  | { readonly effect: 'deny'; readonly code: DenyCode; readonly hard: boolean; readonly reason: string; readonly rule?: string };

/** Minimum or union of the global limits and those of every matching section. Durations in milliseconds. */
export interface Limits {
  readonly maxTtlMs: number | undefined;
  readonly deny: readonly string[];
  readonly rate: { readonly count: number; readonly perMs: number; readonly text: string };
  readonly approvalTtlMs: number;
  readonly maxLeaseTotalMs: number;
  readonly maxInlineBytes: number;
}

/** contracts/gate.txt, scopegate_policy_summary. */
export interface PolicyDigest {
  readonly agentId: string;
  readonly agent_found: boolean;
  readonly default_ttl?: string;
  readonly auto_approve: readonly string[];
  readonly requires_approval: readonly string[];
  readonly deny_globs: readonly string[];
  readonly max_ttl?: string;
  readonly approval_ttl?: string;
  readonly rate_limit?: string;
  readonly team: null;
}

export type PolicyErrorCode =
  | 'policy.bad_capability'
  | 'policy.bad_ttl'
  | 'policy.invalid' // the file on disk
  | 'policy.missing' // no file on disk
  | 'policy.denied'
  | 'policy.locked'
  | 'policy.unchanged' // nothing to adopt
  | 'policy.changed' // another text came into force meanwhile
  | 'policy.edited' // the file is not the text in force
  | 'policy.not_editable' // laid out so that no rule can be added safely
  | 'policy.bad_proposal'
  | 'policy.too_many_proposals'
  | 'policy.no_proposal'
  | 'policy.not_pending';

// Later slices speak the capability language and its durations too, and see no other file of this slice.
export { covers as capabilityCovers, parseCapability, type Capability } from './capability.ts';
export { guardTest, type Guard } from './guard.ts';
export { formatTtl, parseTtl } from './ttl.ts';
