// The nouns of the record: what is written, in which grade, and the closed list of events. Knows no file and no key.
import type { Json, JsonObject } from '../../kernel/json.ts';

/** `written`: survives the death of the process. `synced`: survives the power (DESIGN invariant 6). */
export type Grade = 'written' | 'synced';

export const auditEvents = [
  'log.opened',
  'log.recovered',
  'daemon.started',
  'daemon.stopped',
  'rights.edited',
  'operator.created',
  'operator.refused',
  'vault.created',
  'vault.opened',
  'vault.locked',
  'vault.refused',
  'vault.damaged',
  'vault.slot_added',
  'vault.slot_removed',
  'vault.key_rotated',
  'vault.recovered',
  'secret.added',
  'secret.rotated',
  'secret.removed',
  'secret.retired',
  'secret.used',
  'secret.placed',
  'placement.allowed',
  'placement.disallowed',
  'git.allowed',
  'git.disallowed',
  'agent.added',
  'agent.rotated',
  'agent.revoked',
  'agent.removed',
  'agent.suspended',
  'agent.unsuspended',
  'upstream.added',
  'upstream.removed',
  'upstream.unaccepted',
  'upstream.started',
  'upstream.exited',
  'upstream.circuit',
  'registry.updated',
  'tool.pinned',
  'tool.quarantined',
  'tool.accepted',
  'policy.adopted',
  'policy.narrowed',
  'policy.refused',
  'proposal.queued',
  'proposal.accepted',
  'proposal.rejected',
  'proposal.withdrawn',
  'capability.requested',
  'capability.denied',
  'grant.issued',
  'grant.revoked',
  'grant.expired',
  'honeytoken.planted',
  'honeytoken.removed',
  'honeytoken.triggered',
  'taint.detected',
  'taint.cleared',
  'defence.set',
  'approval.requested',
  'approval.approved',
  'approval.denied',
  'approval.expired',
  'approval.offered',
  'approval.waited',
  'approval.used',
  'call.intent',
  'call.outcome',
  'call.refused',
  'call.resumed',
  'ask.relayed',
  'ask.handed',
  'ask.refused',
  'resource.followed',
  'resource.unfollowed',
  'task.ended',
  'operation.refused',
  'door.refused',
] as const;
export type AuditEvent = (typeof auditEvents)[number];

/** Events of something whose effect follows, and that a second record (`call.outcome`) closes. */
export function opensIntent(event: AuditEvent): boolean {
  return event === 'call.intent' || event === 'ask.relayed';
}

/** What a caller hands in. The log adds version, id, index and time, and seals `sealed`. */
export interface AuditEntry {
  readonly event: AuditEvent;
  /** `agent:NAME`, `operator`, `local` or `daemon`. */
  readonly actor: string;
  /** Plain facts: names, ids, codes, counts. Never a value, an argument or free text of an agent. */
  readonly facts?: JsonObject;
  /** Secret or erasable texts; the record keeps only a salted digest of each. */
  readonly sealed?: Readonly<Record<string, string>>;
}

export type Outcome = 'ok' | 'error' | 'cancelled' | 'timeout' | 'refused' | 'unknown';

/** One record as stored (canonical JSON, RFC 8785, integers only). */
export interface AuditRecord {
  readonly v: 1;
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly t: number;
  readonly actor: string;
  readonly event: AuditEvent;
  readonly facts?: JsonObject;
  /** Field → base64url of HMAC-SHA-256(record salt, text). */
  readonly sealed?: Readonly<Record<string, string>>;
  /** On `call.outcome`: the id of its intent, a call's or that of a question to a client. */
  readonly intent?: string;
  /** When the change was committed, where the log could only catch up later (a crash, a full disk). */
  readonly committedAt?: number;
  /** On the last record of a change: the seal over all rows that rights come from, as the change left them (rights-seal.ts). */
  readonly rights?: string;
}

export type AuditErrorCode =
  | 'audit.unavailable' // nothing can be recorded now
  | 'audit.locked' // what is on disk is not what was signed
  | 'audit.not_found'
  | 'audit.bad_entry' // a record no log can hold
  | 'audit.bad_path'; // where an export cannot go

export type AuditFact = Json;
