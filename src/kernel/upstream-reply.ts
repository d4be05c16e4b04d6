// What an answer over the wire is to everything that sends a request, towards upstreams and towards clients. Types only.
import type { JsonObject } from './json.ts';

/** What an upstream answered, as one validated slice of its bytes and the same parsed. */
export type UpstreamReply =
  | { readonly kind: 'result'; readonly json: string; readonly value: JsonObject }
  | { readonly kind: 'error'; readonly json: string; readonly code: number };
