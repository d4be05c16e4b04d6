// The face of the grants slice: live grants in memory, one commit for each change.
import type { AuditEntry } from '../audit/model.ts';
import type { Transaction } from '../../kernel/database.ts';
import type { Grant, GrantOrigin } from './model.ts';

export interface NewGrant {
  readonly agent: string;
  readonly capability: string;
  readonly origin: GrantOrigin;
  readonly rule: string;
  readonly approvalId?: string;
  readonly ttlMs: number;
}

export interface Grants {
  /** A live grant of this agent whose language contains the capability; `human` asks for one a person gave. Synchronous. */
  covering(agent: string, capability: string, need: 'any' | 'human'): Grant | undefined;
  active(agent: string): readonly Grant[];
  /** Issues in one commit with its record. Concurrent calls for the same agent, capability and origin share one grant. */
  issue(grant: NewGrant): Promise<Grant>;
  /** The row and entry of an issue, for a caller that commits it with its own change; call `publish` after the commit. */
  stage(tx: Transaction, grant: NewGrant): Promise<{ readonly grant: Grant; readonly entry: AuditEntry; publish(): void }>;
  /** Ends every grant of an agent (revoked, removed), one commit. */
  revokeAll(agent: string, reason: string): Promise<number>;
}
