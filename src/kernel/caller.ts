// Who is asking. Identity comes from the door (token, socket, signature), never from a header or an argument.

/** An agent that proved its token at the agent door or over the stdio bridge. */
export interface AgentCaller {
  readonly kind: 'agent';
  /** The agent's name, also its key in policies.yaml. */
  readonly agent: string;
  /** One MCP session; progress, cancellation and list changes go to it. */
  readonly session: string;
  /** Its requests stand for themselves: `session` only holds together what upstreams keep for it, and each says which log messages it wants. */
  readonly sessionless?: true;
}

/** Someone on the local socket: may look and may narrow, never widen. */
export interface LocalCaller {
  readonly kind: 'local';
}

/** A local or remote caller that brought an operator signature for exactly this operation and input. */
export interface OperatorCaller {
  readonly kind: 'operator';
  readonly proof: Proof;
}

export type Caller = AgentCaller | LocalCaller | OperatorCaller;

/** How the operator key was unlocked; `passphrase_file` marks decisions no person typed a passphrase for. */
export type ProofMethod = 'passphrase' | 'passphrase_file';

/** A signature over a prepared statement (DESIGN invariant 3). Binary fields are base64url. */
export interface Proof {
  /** The statement's single-use challenge. */
  readonly challenge: string;
  readonly method: ProofMethod;
  readonly keyId: string;
  /** Ed25519 over `signingInput(statement, method)`, see features/operator/model.ts. */
  readonly signature: string;
}

/** `agent:NAME`, `local` or `operator`: the actor column of the record. */
export function actorOf(caller: Caller): string {
  return caller.kind === 'agent' ? `agent:${caller.agent}` : caller.kind;
}
