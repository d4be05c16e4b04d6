// What one protocol era gives the doors: requests read into words of no revision, answers written in the words of that era.
// A method an era does not know is refused because it is in no registry, never by an `if`. A further era is a further file.
import type { ChangingList, ClientFacts, ListName, LogLevel, Offering, RelayRequest } from '../kernel/dispatch.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { InputRequest, Resumption } from './input-required.ts';
import type { RequestId } from './jsonrpc.ts';

/** What every request carries that is answered by an upstream. */
interface Relayable {
  readonly args: JsonObject | undefined;
  /** Params without what the request is about, progress token and whatever else the era keeps to itself, to be forwarded. */
  readonly rest: JsonObject;
  readonly progressToken: RequestId | undefined;
  /** What the client said of itself with this request; absent where it said so when its session began. */
  readonly client?: ClientFacts;
  /** It goes on with a call that was answered with a question of ours (2026-07-28). */
  readonly resumption?: Resumption;
}

/** What agents ask in every era. */
export type SharedRequest =
  | { readonly kind: 'list'; readonly list: ListName; readonly cursor: string | undefined }
  | (Relayable & { readonly kind: 'call_tool'; readonly name: string })
  | (Relayable & Pick<RelayRequest, 'method' | 'target'> & { readonly kind: 'relay' });

/** What a client says of itself once, when its session begins. Claims: nothing may be allowed because of them. */
export type ClientClaims = Pick<ClientFacts, 'capabilities' | 'info'>;

export type HandshakeRequest =
  | SharedRequest
  /** `version` is what the agent asks for. */
  | { readonly kind: 'initialize'; readonly version: string; readonly client: ClientClaims }
  | { readonly kind: 'ping' }
  | { readonly kind: 'set_log_level'; readonly level: LogLevel }
  /** Wants to be told when the resource changes, or no longer. */
  | { readonly kind: 'follow'; readonly uri: string }
  | { readonly kind: 'unfollow'; readonly uri: string };

export type StatelessRequest =
  | SharedRequest
  | { readonly kind: 'discover' }
  /** `filter` is what of the client's wishes can be honoured. */
  | { readonly kind: 'listen'; readonly filter: NoticeFilter };

/** Kinds of notices a client opted in to. */
export interface NoticeFilter {
  readonly lists: readonly ChangingList[];
  /** URIs, each once, whose updates are told. */
  readonly resources: readonly string[];
}

export type AgentNotice =
  | { readonly kind: 'initialized' }
  /** Absent id: a notice that names no request, which cancels nothing. */
  | { readonly kind: 'cancelled'; readonly requestId: RequestId | undefined }
  /** About a request to the client; `note` is without the token. */
  | { readonly kind: 'progress'; readonly token: RequestId | undefined; readonly note: JsonObject }
  | { readonly kind: 'roots_changed' };

export interface ServerFacts {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string;
}

/** The error an upstream answered with, as this era may tell it. */
export interface RelayedError {
  /** JSON text of an error object. */
  readonly error: string;
  /** The HTTP status it has to come with where it is a body of its own. */
  readonly status: number;
}

export interface Era {
  /** Newest first. */
  readonly versions: readonly string[];
  /**
   * JSON-RPC codes of refusals that no code of JSON-RPC names: `refused` did nothing, `over` was cut off in the middle. `noResource`: a
   * URI names nothing. `noMethodStatus` is the HTTP status that an unknown method has to come with.
   */
  readonly codes: {
    readonly refused: number;
    readonly over: number;
    readonly noResource: number;
    readonly noMethodStatus: number;
  };
  /** Texts of JSON-RPC results. */
  readonly results: {
    /** `entries` are JSON texts and go in unchanged. */
    page(list: ListName, entries: readonly string[], nextCursor: string | undefined): string;
    /** A tool's answer that is one text. */
    toolText(text: string, isError: boolean): string;
    /** The text of an upstream's result, every byte of which stays. */
    relayed(result: string): string;
    /** The same of a resource that was read, which says for whom it may be kept and how long where the era wants that said. */
    relayedRead(result: string): string;
  };
  /** `error` is the JSON text of an upstream's error object; `vendor`: the answer to a method that only the upstream knows. */
  relayedError(error: string, vendor: boolean): RelayedError;
  /** Texts of whole notifications. */
  readonly notifications: {
    progress(token: RequestId, note: JsonObject): string;
  };
}

/** A session begins with a handshake and is remembered: the 2025 revisions. */
export interface HandshakeEra extends Era {
  /** Readers throw AppError `wire.bad_params` (kind invalid), worded for the sender. */
  readonly requests: ReadonlyMap<string, (params: JsonObject) => HandshakeRequest>;
  readonly notices: ReadonlyMap<string, (params: JsonObject) => AgentNotice>;
  /** The version to speak when `requested` is asked for. */
  negotiate(requested: string): string;
  /** Whether a session of this version may send several messages in one array. */
  hasBatches(version: string): boolean;
  readonly results: Era['results'] & {
    readonly empty: string;
    initialized(version: string, facts: ServerFacts, offering: Offering): string;
  };
  readonly notifications: Era['notifications'] & { listChanged(list: ChangingList): string };
}

/** Every request says all there is to know: 2026-07-28. */
export interface StatelessEra extends Era {
  /** What a client may fall back to as well, newest first. */
  readonly supported: readonly string[];
  /** Readers throw AppError `wire.bad_params`; they are given requests whose head was checked (stateless-head.ts). */
  readonly requests: ReadonlyMap<string, (params: JsonObject) => StatelessRequest>;
  /** Reads a request whose method only an upstream knows (vendor-methods.ts). */
  vendorRequest(method: string, params: JsonObject): StatelessRequest;
  readonly results: Era['results'] & {
    discovered(offering: Offering): string;
    /** What is wanted from the client before the request can be completed; `state` comes back with it. */
    inputRequired(requests: readonly InputRequest[], state: string): string;
    /** The end of a subscription that the gateway ends. */
    listened(subscription: RequestId): string;
  };
  readonly notifications: Era['notifications'] & {
    /** The first message of a subscription. */
    acknowledged(subscription: RequestId, filter: NoticeFilter): string;
    listChanged(subscription: RequestId, list: ChangingList): string;
    /** `params` is the JSON text of an upstream's. */
    resourceUpdated(subscription: RequestId, params: string): string;
  };
}
