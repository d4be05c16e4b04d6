// The face of the fleet slice: supervised upstream members, their pinned tools, and calls into them.
import type { JsonObject } from '../../kernel/json.ts';
import type { Unsubscribe } from '../../kernel/ports.ts';
import type { CatalogTool, CircuitView, MemberState, Resolution } from './model.ts';

export interface UpstreamCall {
  readonly tool: CatalogTool;
  /** Params to send, `name` already the upstream's own; JSON text, re-emitted from what was decided. Progress token added here. */
  readonly args: JsonObject | undefined;
  readonly rest: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: ((note: JsonObject) => void) | undefined;
}

export type UpstreamAnswer =
  /** JSON text of the result, one validated slice of the upstream's bytes. */
  | { readonly kind: 'result'; readonly json: string; readonly isError: boolean }
  /** JSON text of the JSON-RPC error object the upstream answered with. */
  | { readonly kind: 'error'; readonly json: string; readonly code: number };

export interface MemberHealth {
  readonly ok: boolean;
  readonly tools?: number;
  readonly error?: string;
  readonly state: MemberState;
  readonly circuit: CircuitView;
  /** contracts/gate.txt, scopegate_diagnose. */
  readonly mode: 'none';
}

export interface Fleet {
  /** Accepted tools of all enabled, accepted upstreams in a stable order, from memory. */
  catalog(): readonly CatalogTool[];
  resolve(upstream: string, tool: string): Resolution;
  upstreams(): readonly string[];
  /** Starts the member when needed; throws the `fleet.*` codes. Rejects within the call deadline, always. */
  call(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** A bounded live probe (10 s each, all at once) of every enabled upstream; never rejects. */
  diagnose(signal: AbortSignal): Promise<Readonly<Record<string, MemberHealth>>>;
  onCatalogChanged(listener: () => void): Unsubscribe;
  /** Stops every member; resolves when no child is left. */
  close(): Promise<void>;
}
