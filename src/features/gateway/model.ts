// The codes the gateway itself refuses with, and the facts it passes between its steps.
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { UpstreamAnswer, UpstreamCall } from '../fleet/fleet.ts';
import type { RedactCategory } from '../policy/model.ts';

export type GatewayErrorCode =
  | 'gateway.misuse' // arguments of an own tool, or a capability that is none
  | 'gateway.unknown_tool'
  | 'gateway.unknown_prompt'
  | 'gateway.unknown_resource'
  | 'gateway.unknown_method'
  | 'gateway.bad_uri' // a URI that has several spellings, or that no capability can name
  | 'gateway.unknown_operation'
  | 'gateway.other_secret' // a secret beside an input that is not the one under the signature
  | 'gateway.not_followable' // a resource nobody can be told about, or only by reading it
  | 'gateway.too_many_followed'
  | 'gateway.unknown_task'
  | 'gateway.too_many_tasks'
  | 'gateway.task_id_taken' // two upstreams gave one agent the same id
  | 'gateway.rate_limited'
  | 'gateway.not_answered' // an upstream asked back, and did not get what it needs
  | 'gateway.not_reachable'; // an operation this kind of caller never reaches

/**
 * A prompt, a resource and what completes them are reads by what the protocol says of them, not by what an upstream does. The grade of
 * their records follows from it; rules about annotations are about tools only.
 */
export const knownRead: ToolAnnotations = { readOnlyHint: true };

/** What is decided about: a tool under its accepted definition, a prompt, a resource. */
export interface Subject {
  readonly capability: string;
  /** Hex SHA-256 of the definition an approval is bound to; nothing where there is none. */
  readonly hash: string | undefined;
  readonly annotations: ToolAnnotations;
  /** One of a kind without number, such as a URI: what a rule allows is not turned into a grant for each. */
  readonly countless?: boolean;
  /**
   * Nothing but an approval of exactly these arguments lets it pass: no grant, and no rule that allows it unless its pattern begins with
   * these words.
   */
  readonly exactUnless?: string;
}

/** One request on its way through the gateway: what it is about, what it says, and how it reaches its upstream. */
export interface Errand {
  readonly subject: Subject;
  readonly args: JsonObject | undefined;
  /** Of MCP; absent for a tool call. */
  readonly method?: string;
  /** It reads, whatever its subject does. */
  readonly reads?: boolean;
  /** What of the request goes on the record as a digest, beside the arguments. */
  readonly sealed?: Readonly<Record<string, string>>;
  /** `more` goes beside the params: answers to what the upstream asked within its last result. */
  send(sending: Sending, more?: JsonObject): Promise<UpstreamAnswer>;
}

/** What the page adds when it sends. */
export type Sending = Pick<UpstreamCall, 'onProgress' | 'beforeSend' | 'host' | 'until'>;

/** What lets one call pass, as it goes on the record. */
export interface Admission {
  /** The version of the policy that decided. */
  readonly policy: string;
  readonly rule: string;
  readonly redact: readonly RedactCategory[];
  /** When the grant ends it stands on, milliseconds since the epoch; where there is none it lets pass for so long as a grant would. */
  readonly until?: number;
  readonly ttlMs: number;
  /** A person agreed: the grant or approval is one a person gave. */
  readonly byPerson: boolean;
  /** The grant or the approval the call stands on; neither where a rule alone allows what is countless. */
  readonly standsOn: { readonly grant: string } | { readonly approval: string } | Readonly<Record<string, never>>;
}

/** An errand, and why it may pass. */
export interface Admitted {
  readonly errand: Errand;
  readonly admission: Admission;
}
