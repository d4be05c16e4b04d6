// An agent: a name, a token's hash, a state. The token itself is shown once and never stored.
import type { JsonObject } from '../../kernel/json.ts';

/**
 * active ⇄ suspended → revoked; revoked is final (remove and add again). `locked`: its row is unreadable, so nothing passes
 * until a person removes it.
 */
export type AgentState = 'active' | 'suspended' | 'revoked' | 'locked';

export interface Agent {
  /** `[a-z0-9][a-z0-9_.-]{0,63}`; also the key in policies.yaml. */
  readonly name: string;
  readonly state: AgentState;
  readonly createdAt: string;
  readonly rotatedAt?: string;
  /** Why it is suspended, for the operator. */
  readonly reason?: string;
}

/** Why sessions of an agent end. */
export type AgentEnd = 'rotated' | 'revoked' | 'removed' | 'suspended';

/** Who changes an agent, for the record: `actorOf(caller)` and, where an operator signed, the facts of the proof. */
export interface Decision {
  readonly actor: string;
  readonly proof?: JsonObject;
}

export type AgentErrorCode =
  | 'agents.not_found'
  | 'agents.exists'
  | 'agents.bad_name'
  | 'agents.suspended'
  | 'agents.not_suspended'
  | 'agents.revoked'
  | 'agents.locked';

export const agentName = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
export const agentNameHelp = 'lower-case letters, digits, ".", "_" and "-", at most 64, starting with a letter or digit';
