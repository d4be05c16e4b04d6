// The client behind a call or a session, as what works for it may ask it back (server-to-client requests of MCP: sampling, elicitation,
// roots) and tell it things (log messages, notices). Types only; says nothing of who may.
import type { JsonObject } from './json.ts';
import type { UpstreamReply } from './upstream-reply.ts';

/** A request to the client. */
export interface HostRequest {
  readonly method: string;
  /** JSON text of an object, as whoever asks wrote it; without a progress token. */
  readonly params: string | undefined;
  /** Aborting takes the request back: the client is told with `notifications/cancelled`, and the promise rejects with `fleet.cancelled`. */
  readonly signal: AbortSignal;
  /** Progress the client reports, in the order it came. */
  readonly onProgress?: (note: JsonObject) => void;
}

/**
 * One object for one session (2025 revisions) or one request (2026-07-28): by identity it is told whether two calls come from the same
 * client. What it says of itself are claims; nothing may be allowed because of them.
 */
export interface ClientHost {
  /** As the client declared them. */
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  /**
   * Resolves with what the client answered, error or result, its bytes kept. Rejects with `host.gone` (kind unavailable) when there is
   * nobody to ask: the session is over, or nothing can carry the request to it.
   */
  ask(request: HostRequest): Promise<UpstreamReply>;
  /** A notification; `params` is JSON text of an object. Dropped where the client cannot be told. */
  notify(method: string, params: string | undefined): void;
}
