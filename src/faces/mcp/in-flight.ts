// What is under way for a client: where an answer goes, what calls belong together, what carries notices. Types only; knows no
// transport and no era by name.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import type { Era } from '../../wire/era.ts';
import type { RequestId } from '../../wire/jsonrpc.ts';

/** A stream of notices that belong to no request of their own. */
export interface NoticeStream {
  /** A whole JSON-RPC message. A client too far behind to take it is cut off: it will come back and look again. */
  send(message: string): void;
  /** The same for what may go another way, or be lost: false when the client is too far behind, and nothing else happens then. */
  offer(message: string): boolean;
  keepAlive(): void;
  end(): void;
}

/** Where the answer of one request goes. Exactly one of `answer` and `abandon` is called, once. */
export interface ReplySlot {
  /** Whether the client takes anything before the answer. */
  readonly streams: boolean;
  /** A message that goes before the answer; false when the client cannot be streamed to, or is too far behind. */
  notice(message: string): boolean;
  /** Shows on a stream that was opened that somebody is there. */
  keepAlive(): void;
  /** `status`: the HTTP status where the answer is a body of its own; 200 unless said. */
  answer(message: string, status?: number): void;
  /** The same with 200, in parts that follow one another, where the way out can take them. For results too long to be joined. */
  answerInParts?(parts: readonly string[]): void;
  /** The client took its request back: the exchange ends without an answer. */
  abandon(): void;
}

export interface CallInFlight {
  /** The id the answer carries. */
  readonly id: RequestId;
  /** Progress is told under it; that of the request that came last, where one took over from another (parked-calls.ts). */
  progressToken: RequestId | undefined;
  readonly abort: AbortController;
  readonly slot: ReplySlot;
}

/**
 * Calls that end together. `Key` tells them apart: the id in a session; without sessions the slot, because two clients of one agent
 * may well use the same id at once.
 */
export interface CallHome<Key> {
  readonly caller: AgentCaller;
  readonly scope: ToolScope;
  readonly era: Era;
  /** Whom upstreams may ask back; absent where nobody could answer. */
  readonly host?: ClientHost;
  readonly calls: Map<Key, CallInFlight>;
}
