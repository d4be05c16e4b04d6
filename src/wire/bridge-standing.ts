// What a client of the bridge asked for that outlives one session with the daemon: resources it follows, and the log messages it wants. Taken
// down when the daemon agreed, asked for again in every further session. Sends nothing by itself.
import type { JsonObject } from '../kernel/json.ts';
import { encodeNotification, isObject, type Message } from './jsonrpc.ts';

type Request = Extract<Message, { kind: 'request' }>;

export interface StandingWish {
  readonly method: string;
  readonly params: JsonObject;
  /** What the client has to know when it was granted again: what it follows may have changed meanwhile. */
  readonly notice: string | undefined;
}

export interface BridgeStanding {
  /** Sees the messages that answer the request; nothing for one that leaves nothing behind. */
  watch(request: Request): ((text: string) => void) | undefined;
  /** Everything that stands. */
  wishes(): readonly StandingWish[];
  clear(): void;
}

/** A client that follows more has to ask again itself. */
const maxFollowed = 1_024;

export function createBridgeStanding(): BridgeStanding {
  const followed = new Map<string, JsonObject>();
  let level: JsonObject | undefined;

  function agreed({ method, params = {} }: Request): void {
    const { uri } = params;
    if (method === 'logging/setLevel') level = params;
    else if (typeof uri !== 'string') return;
    else if (method === 'resources/unsubscribe') followed.delete(uri);
    else if (followed.size < maxFollowed) followed.set(uri, params);
  }

  return {
    watch(request) {
      if (!lasting.has(request.method)) return undefined;
      return (text) => {
        if (grants(text, request)) agreed(request);
      };
    },
    wishes: () => [
      ...(level === undefined ? [] : [{ method: 'logging/setLevel', params: level, notice: undefined }]),
      ...[...followed].map(([uri, params]) => ({
        method: 'resources/subscribe',
        params,
        notice: encodeNotification('notifications/resources/updated', JSON.stringify({ uri })),
      })),
    ],
    clear() {
      followed.clear();
      level = undefined;
    },
  };
}

const lasting = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/** Whether a message of the daemon, or one of an array of them, is the result of the request. */
export function grants(text: string, { id }: Pick<Request, 'id'>): boolean {
  const value = parsed(text);
  const messages: readonly unknown[] = Array.isArray(value) ? (value as unknown[]) : [value];
  return messages.some((message) => {
    const found = message as JsonObject;
    return isObject(found) && found['id'] === id && 'result' in found;
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
