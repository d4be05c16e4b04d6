// An agent: a name, a token's hash, a state. The token itself is shown once and never stored.

export type AgentState = 'active' | 'suspended' | 'revoked';

export interface Agent {
  /** `[a-z0-9][a-z0-9_.-]{0,63}`; also the key in policies.yaml. */
  readonly name: string;
  readonly state: AgentState;
  readonly createdAt: string;
  readonly rotatedAt?: string;
  /** Why it is suspended, for the operator. */
  readonly reason?: string;
}

export type AgentErrorCode = 'agents.not_found' | 'agents.exists' | 'agents.bad_name' | 'agents.suspended' | 'agents.revoked';

export const agentName = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
