// The nouns of the fleet: upstream, member state, pinned tool. The state machine of a member is in member.ts.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { AddressClass } from '../../lib/ip-address.ts';
import type { AuthConfig } from '../auth/model.ts';

export interface StdioTransport {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

export interface HttpTransport {
  readonly kind: 'http';
  /** As the URL standard writes it; no user info, no fragment. */
  readonly url: string;
  /** Fixed headers, lower case; never a secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Plain http to another machine, where everybody on the way reads and writes along. */
  readonly allow_insecure: boolean;
  /** Which addresses its name may lead to at the time of connecting. */
  readonly addresses: Addresses;
}

/**
 * `any`: whatever the name leads to. `local`: private addresses and this machine as well, but none that is link-local or hands out
 * credentials of the machine. `public`: those of the internet only, so that a name cannot be turned towards what is at home here.
 */
export const addressings = ['any', 'local', 'public'] as const;
export type Addresses = (typeof addressings)[number];

export function mayConnect(kind: AddressClass, addresses: Addresses): boolean {
  if (addresses === 'any' || kind === 'public') return true;
  return addresses === 'local' && (kind === 'private' || kind === 'loopback');
}

/**
 * How many processes a stdio upstream has (DESIGN §5, Upstream sharing): one for everybody, who then cannot be asked back; one for each
 * agent; or one for each agent session.
 */
export const sharings = ['shared', 'agent', 'session'] as const;
export type Sharing = (typeof sharings)[number];

export const usualMaxSessions = 64;
export const usualIdleStopMs = 10 * 60_000;

/** One upstream of sallyport.yaml. */
export interface UpstreamSpec {
  /** `[a-z0-9][a-z0-9_-]*` without `__`, not reserved. */
  readonly name: string;
  readonly transport: StdioTransport | HttpTransport;
  /** How it is logged in to; names secrets, holds none. */
  readonly auth: AuthConfig;
  /** Fixed variables of the child; never a secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Names passed through from the daemon's environment, besides the few that environment.ts allows. */
  readonly envPassthrough: readonly string[];
  /** Tool names to expose; empty = all. */
  readonly exposeTools: readonly string[];
  /** Places (absolute paths or `file:` URIs) whose part of a client's roots it is told; empty = it is told of none. */
  readonly roots: readonly string[];
  readonly enabled: boolean;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Of a stdio upstream; over HTTP it is the upstream's to say. */
  readonly sharing: Sharing;
  /** How many agent sessions (agents, where `sharing` says so) may have an upstream session of their own at the same time. */
  readonly maxSessions: number;
  /** Such a session that nobody used for this long is ended, and a process of its own with it. */
  readonly idleStopMs: number;
}

/** Who uses an upstream: an agent session, and the client behind it, whom the upstream may ask back. */
export interface Party extends Pick<AgentCaller, 'agent' | 'session'> {
  readonly host?: ClientHost | undefined;
}

/** A resource changed. `session` is the one that follows it; absent where a connection serves everybody, whoever follows it. */
export interface ResourceUpdate {
  readonly upstream: string;
  readonly session: string | undefined;
  readonly uri: string;
  /** JSON text of the params as the upstream sent them. */
  readonly text: string;
}

/** An upstream says how a task goes. */
export interface TaskNotice {
  readonly upstream: string;
  /** Whom the connection it came on serves. */
  readonly among: (party: Pick<Party, 'agent' | 'session'>) => boolean;
  readonly id: string;
  readonly status: string | undefined;
  /** JSON text of the params as the upstream sent them. */
  readonly text: string;
}

export const reservedUpstreams = ['hangar', 'hack', 'vault', 'git', 'plan', 'sallyport', 'scopegate'] as const;

/**
 * Health as measured, one machine per member: stopped → starting → ready → (backoff → starting) …; `circuit` is a view of it.
 * `login_needed`: it refused our login and is not tried again before a person says so. `waiting_for_secrets`: what it is logged in with is
 * not in the vault; it is tried when that changes.
 */
export type MemberState = 'stopped' | 'starting' | 'ready' | 'backoff' | 'login_needed' | 'waiting_for_secrets';

/** Why an entry of sallyport.yaml has no member: not to be started, not accepted, or not understood. */
export type EntryState = 'disabled' | 'unaccepted' | 'invalid';

export interface CircuitView {
  readonly state: 'closed' | 'open' | 'half_open';
  readonly failures: number;
}

/** What a tool is called for real: in capabilities, approvals, errors and the record. */
export interface ToolKey {
  readonly upstream: string;
  /** The upstream's own name. */
  readonly tool: string;
}

/** A tool whose definition a person (or the first listing) accepted. */
export interface CatalogTool extends ToolKey {
  /** `<upstream>:call:<tool>`. */
  readonly capability: string;
  /** The definition exactly as the upstream sent it (JSON text), under its own name. */
  readonly definition: string;
  /** Hex SHA-256 of the canonical definition. */
  readonly hash: string;
  readonly annotations: ToolAnnotations;
  /** Why some clients or model APIs refuse a list with it, legal as it is; for a person. */
  readonly warnings: readonly string[];
}

/** The same as agents see it at `/mcp`. */
export interface ListedTool extends CatalogTool {
  /** `<upstream>__<tool>` or a short form of it; see tool-names.ts. */
  readonly name: string;
  /** The definition with this name; every other byte unchanged. */
  readonly listed: string;
}

/** The lists of an upstream besides its tools. Nothing in them is pinned: what they offer is data and text, never an action. */
export type OfferList = 'prompts' | 'resources' | 'resourceTemplates';

/** One entry of such a list. */
export interface Offer {
  readonly upstream: string;
  /** What it goes by at its upstream: the name of a prompt, the URI of a resource, the URI template of a template. */
  readonly key: string;
  /** The entry exactly as the upstream sent it (JSON text). */
  readonly text: string;
  /** Hex SHA-256 of that text. */
  readonly hash: string;
}

/** A prompt as agents see it at `/mcp`, named like a tool. */
export interface ListedPrompt extends Offer {
  readonly name: string;
  /** The entry with this name; every other byte unchanged. */
  readonly listed: string;
}

/** How names are written that agents see at `/mcp`. */
export interface Naming {
  /** `safe` maps `.` to `_`, for clients and models that take letters, digits, `_` and `-` only. */
  readonly style: 'plain' | 'safe';
  /** In characters; 40 to 64. Less leaves room for a prefix that a client puts in front. */
  readonly longest: number;
}

export const usualNaming: Naming = { style: 'plain', longest: 64 };

/** Listed by its upstream, not served: a person has to look at it. */
export interface QuarantinedTool extends ToolKey {
  /** Why nobody can accept it, for a person. */
  readonly unusable?: string;
}

export type Resolution =
  | { readonly kind: 'tool'; readonly tool: CatalogTool }
  | { readonly kind: 'quarantined'; readonly upstream: string; readonly tool: string }
  | { readonly kind: 'unknown' };

export interface PinReview {
  readonly upstream: string;
  readonly tool: string;
  readonly change: 'new' | 'changed' | 'removed';
  /** Why this definition can never be accepted; absent when a person may. */
  readonly unusable?: string;
  readonly acceptedHash?: string;
  readonly offeredHash?: string;
  /** Accepted and offered definitions as JSON text, for a diff. */
  readonly accepted?: string;
  readonly offered?: string;
}

/** One line of `upstream ls`: what is so now, never what was. */
export interface UpstreamStatus {
  readonly name: string;
  readonly state: MemberState | EntryState;
  readonly pid?: number;
  readonly tools: number;
  readonly quarantined: number;
  /** Those of the quarantined that nobody can accept. */
  readonly unusable?: readonly { readonly tool: string; readonly why: string }[];
  /** Served tools with a warning. */
  readonly warned?: number;
  /** Starts after the first one, since the daemon started. */
  readonly restarts: number;
  readonly circuit?: CircuitView['state'];
  readonly kind?: 'stdio' | 'http';
  /** Of a stdio upstream that does not serve everybody with one process. */
  readonly sharing?: Exclude<Sharing, 'shared'>;
  readonly command?: string;
  /** Scheme, host and port of an HTTP upstream. */
  readonly origin?: string;
  /** The revision it speaks, while it runs. */
  readonly era?: string;
  /** Agent sessions that have an upstream session of their own; absent where one serves all. */
  readonly sessions?: number;
  readonly error?: string;
  /** The tail of what it last wrote to stderr before it failed. */
  readonly stderr?: string;
}

/** Who decided, and the facts of the verified signature for the record. */
export interface Decision {
  readonly actor: string;
  readonly proof?: JsonObject;
}

export type FleetErrorCode =
  | 'fleet.not_found'
  | 'fleet.exists'
  | 'fleet.bad_spec'
  | 'fleet.bad_settings' // sallyport.yaml cannot be read or changed
  | 'fleet.changed' // what was to be accepted is no longer what is there
  | 'fleet.unaccepted' // in sallyport.yaml, but no operator signed it
  | 'fleet.start_failed'
  | 'fleet.down' // waiting for its retry time
  | 'fleet.circuit_open'
  | 'fleet.overloaded'
  | 'fleet.exited' // the child died with the call in flight: outcome unknown
  | 'fleet.failed' // an HTTP upstream failed, or cut the connection, with the call in flight: outcome unknown
  | 'fleet.unreachable' // no connection, so nothing was sent
  | 'fleet.refused' // an HTTP status that says that nothing was done
  | 'fleet.auth_broken' // it wants a login that is not there
  | 'fleet.session_lost' // the upstream forgot the session, twice in a row
  | 'fleet.input_required' // it asks back, and the caller's revision has no way to answer
  | 'fleet.timeout'
  | 'fleet.cancelled'
  | 'fleet.quarantined'
  | 'fleet.protocol'; // the upstream broke JSON-RPC
