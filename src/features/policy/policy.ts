// The face of the policy slice: what an agent may do, decided from the text in force. Pure decisions, memoised per version.
import type { Unsubscribe } from '../../kernel/ports.ts';
import type { Limits, PolicyRequest, Verdict } from './model.ts';

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

export interface Policy {
  /** Hex SHA-256 of the text in force: what decisions are bound to. */
  version(): string;
  decide(request: PolicyRequest): Verdict;
  limits(agent: string): Limits;
  /** contracts/gate.txt, scopegate_policy_summary. */
  digest(agent: string): PolicyDigest;
  /** Calls back after another text came into force. */
  onChanged(listener: () => void): Unsubscribe;
  close(): void;
}
