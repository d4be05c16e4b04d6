// What faces may ask of the gateway. The one implementation is features/gateway/call.ts.
import type { AgentCaller, Caller, Proof } from './caller.ts';
import type { CarriedSecrets } from './carried-secret.ts';
import type { ClientHost } from './client-host.ts';
import type { JsonObject } from './json.ts';
import type { Operation } from './operation.ts';
import type { Unsubscribe } from './ports.ts';

/** Which tools an endpoint serves: `/mcp` everything, `/mcp/<toolset>` own tools only, `/mcp/upstreams/<name>` one upstream un-prefixed. */
export type ToolScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'toolset'; readonly toolset: 'gate' }
  | { readonly kind: 'upstream'; readonly upstream: string };

/** What an endpoint can list to an agent. */
export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** The lists of which clients are told that they changed; templates count as resources. */
export type ChangingList = Exclude<ListName, 'resourceTemplates'>;

/** What an endpoint has besides tools for an agent, whether or not there is any of it now. */
export interface Offering {
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly completions: boolean;
  /** Some upstream of it logs to its clients. */
  readonly logging: boolean;
  /** Some upstream of it tells when a resource is updated. */
  readonly subscriptions: boolean;
  /** Tool calls may go on as tasks: what is declared of that in 2025-11-25, and of the extension in 2026-07-28. */
  readonly sessionTasks?: JsonObject;
  readonly extensionTasks?: JsonObject;
  /** Of the one upstream at its own endpoint: what it said of itself, which is then said in its stead. */
  readonly upstream?: {
    readonly serverInfo: JsonObject;
    readonly instructions: string | undefined;
    /** As it declared them. */
    readonly capabilities: JsonObject;
  };
}

/** Levels of log messages (RFC 5424), the least severe first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A progress notice as the upstream sent it, `progressToken` taken out. */
export type ProgressListener = (note: JsonObject) => void;

/** What a client says of itself with a request (MCP 2026-07-28, `_meta`). Claims: nothing may be allowed because of them. */
export interface ClientFacts {
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  /** The lowest level of log notices it wants with this request; without one it gets none. */
  readonly logLevel: string | undefined;
}

export interface ToolCall {
  /** The name the agent used, in the endpoint's own naming. */
  readonly name: string;
  readonly scope: ToolScope;
  /** Parsed once, strictly (no duplicate keys, numbers that round-trip). Absent = the agent sent none. */
  readonly args: JsonObject | undefined;
  /** The rest of the request's params as sent (`_meta` without the progress token, unknown fields), forwarded as they are. */
  readonly rest: JsonObject;
  readonly signal: AbortSignal;
  /** Present when the agent gave a progress token. */
  readonly onProgress: ProgressListener | undefined;
  /** Present when the request itself carried it, as those of 2026-07-28 do. */
  readonly client?: ClientFacts;
  /** Whom an upstream may ask back and tell things about this call; absent where nobody could answer. */
  readonly host?: ClientHost;
}

/** What a request other than a tool call is about: a prompt in the endpoint's own naming, or a resource or template by its URI. */
export type RelayTarget =
  | { readonly kind: 'prompt'; readonly name: string }
  | { readonly kind: 'resource'; readonly uri: string }
  | { readonly kind: 'template'; readonly uri: string }
  /** A method of the one upstream at its own endpoint that this gateway does not know (`<upstream>:method:<name>`). */
  | { readonly kind: 'method'; readonly name: string }
  /** What a call of this agent became, by the id its upstream gave it. */
  | { readonly kind: 'task'; readonly id: string }
  /** All of those; `cursor` is of an earlier page. */
  | { readonly kind: 'tasks'; readonly cursor: string | undefined };

/** A request that an upstream answers and that is no tool call. */
export interface RelayRequest extends Omit<ToolCall, 'name'> {
  /** One of the methods of prompts, resources and completion; for a target of kind `method` its name. */
  readonly method: string;
  readonly target: RelayTarget;
}

/** A wish to be told when a resource changes. */
export interface ResourceFollowing {
  readonly scope: ToolScope;
  readonly uri: string;
  readonly host: ClientHost;
  readonly signal: AbortSignal;
}

export type RelayAnswer = Exclude<ToolAnswer, { kind: 'operation' }>;

/**
 * What comes back. `upstream` carries one validated slice of the upstream's bytes, to be forwarded unchanged:
 * `result` is the text of the JSON-RPC result, `error` the text of its error object.
 */
export type ToolAnswer =
  | { readonly kind: 'upstream'; readonly result: string }
  | { readonly kind: 'upstream_error'; readonly error: string }
  | { readonly kind: 'operation'; readonly operation: Operation; readonly output: unknown };

/** A statement to sign, with everything that will be done if it is signed. Every field is covered by the signature. */
export interface Statement {
  readonly v: 1;
  readonly purpose: 'sallyport/operator-statement';
  /** This installation's id: a signature for one home is nothing to another. */
  readonly installation: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly shown: JsonObject;
  /** Single use, random. */
  readonly challenge: string;
  /** ISO 8601 instants. */
  readonly issuedAt: string;
  readonly expiresAt: string;
}

export interface Dispatch {
  /**
   * The tools this agent may call, ask for or propose, in a stable order, each as the JSON text of its MCP Tool.
   * Nothing a deny covers is in it.
   */
  tools(caller: AgentCaller, scope: ToolScope): readonly string[];
  /** Throws AppError for everything refused; the face draws it in its toolset's convention. */
  callTool(caller: AgentCaller, call: ToolCall): Promise<ToolAnswer>;
  /** The same of another list: what a deny covers is not in it. */
  list(caller: AgentCaller, scope: ToolScope, list: Exclude<ListName, 'tools'>): readonly string[];
  offering(caller: AgentCaller, scope: ToolScope): Offering;
  /** Throws AppError for everything refused. */
  relay(caller: AgentCaller, request: RelayRequest): Promise<RelayAnswer>;
  /**
   * The host is told with `notifications/resources/updated` when the resource changes, until `unfollow`, the end of the session, or a
   * policy that no longer lets the agent read it. Decided and recorded like a read. Throws AppError for everything refused.
   */
  follow(caller: AgentCaller, request: ResourceFollowing): Promise<void>;
  unfollow(caller: AgentCaller, request: Pick<ResourceFollowing, 'scope' | 'uri' | 'host'>): void;
  /** The least severe log messages this session wants from now on; `undefined` none. */
  setLogLevel(caller: AgentCaller, level: LogLevel | undefined): void;
  /** The client says that its roots changed: upstreams that were shown roots of it are told. */
  rootsChanged(caller: AgentCaller): void;
  /** Every operation, for faces to derive routes, commands and pages from. */
  readonly operations: readonly Operation[];
  /**
   * Runs an operation for a caller of the local socket or human door; with a proof where its access is `operator`. `secrets` are those
   * that the operation declares; their bytes are zeroed when it ends.
   */
  operate(caller: Caller, name: string, input: unknown, signal: AbortSignal, secrets?: CarriedSecrets): Promise<unknown>;
  /** The statement a person signs for an operator operation. Records nothing, changes nothing. */
  prepare(caller: Caller, name: string, input: unknown, signal: AbortSignal): Promise<Statement>;
  /** Calls back when a list of an agent may have changed (what upstreams have, pins, policy). */
  onListChanged(listener: (list: ChangingList) => void): Unsubscribe;
  /** An agent's session is over: what upstreams keep for it is ended as well. */
  sessionEnded(session: string): void;
  /** A door refused somebody (unknown token, wrong Host or Origin); recorded, rate limited by the audit slice. */
  refused(door: 'agent' | 'human' | 'local', reason: string, facts: JsonObject): void;
}

export type { Proof };
