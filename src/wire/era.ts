// What one protocol era gives the doors: requests read into words of no revision, answers written in the words of that era.
// A method an era does not know is refused because it is in no registry, never by an `if`. A further era is a further file.
import type { JsonObject } from '../kernel/json.ts';
import type { RequestId } from './jsonrpc.ts';

export type AgentRequest =
  /** `version` is what the agent asks for. */
  | { readonly kind: 'initialize'; readonly version: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'list_tools'; readonly cursor: string | undefined }
  | {
      readonly kind: 'call_tool';
      readonly name: string;
      readonly args: JsonObject | undefined;
      /** Params without name, arguments and progress token, to be forwarded. */
      readonly rest: JsonObject;
      readonly progressToken: RequestId | undefined;
    };

export type AgentNotice =
  | { readonly kind: 'initialized' }
  /** Absent id: a notice that names no request, which cancels nothing. */
  | { readonly kind: 'cancelled'; readonly requestId: RequestId | undefined };

export interface ServerFacts {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string;
}

export interface Era {
  /** Newest first. */
  readonly versions: readonly string[];
  /** Readers throw AppError `wire.bad_params` (kind invalid), worded for the sender. */
  readonly requests: ReadonlyMap<string, (params: JsonObject) => AgentRequest>;
  readonly notices: ReadonlyMap<string, (params: JsonObject) => AgentNotice>;
  /** The version to speak when `requested` is asked for. */
  negotiate(requested: string): string;
  /** Texts of JSON-RPC results. */
  readonly results: {
    readonly empty: string;
    initialized(version: string, facts: ServerFacts): string;
    /** `tools` are JSON texts and go in unchanged. */
    toolPage(tools: readonly string[], nextCursor: string | undefined): string;
    /** A tool's answer that is one text. */
    toolText(text: string, isError: boolean): string;
  };
  /** Texts of whole notifications. */
  readonly notifications: {
    readonly toolsChanged: string;
    progress(token: RequestId, note: JsonObject): string;
  };
}
