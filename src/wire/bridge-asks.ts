// What the daemon asked the client of the bridge in the session of now, and is not answered yet. An answer that comes after its session
// has nobody to go to. Looks only at the heads of messages; sends nothing.
import type { JsonObject } from '../kernel/json.ts';
import { memberHead, skipSpace, skipValue } from '../lib/json-text.ts';
import { messageIn } from './bridge-target.ts';
import { encodeNotification, isObject, isRequestId, type RequestId } from './jsonrpc.ts';

export interface BridgeAsks {
  /** A message of the daemon on its way to the client. */
  passing(text: string): void;
  /** Whether an answer under this id is waited for; it is no longer. */
  take(id: RequestId): boolean;
  waiting(): number;
  /** The session is over: what the client has to be told of the questions that it need not answer any more. */
  end(): readonly string[];
}

export function createBridgeAsks(): BridgeAsks {
  const asked = new Set<RequestId>();
  return {
    passing(text) {
      const { id, method } = headOf(text);
      if (method === undefined) return;
      if (id !== undefined) asked.add(id);
      else if (method === 'notifications/cancelled' && asked.size > 0) {
        const params = messageIn(text)?.['params'];
        const { requestId } = isObject(params) ? params : ({} as JsonObject);
        if (isRequestId(requestId)) asked.delete(requestId);
      }
    },
    take: (id) => asked.delete(id),
    waiting: () => asked.size,
    end() {
      const over = [...asked].map((requestId) =>
        encodeNotification('notifications/cancelled', JSON.stringify({ requestId, reason: 'The session with the daemon ended.' })),
      );
      asked.clear();
      return over;
    },
  };
}

/** Read up to whatever may be large: an answer is known by its result, which nobody looks at. */
function headOf(text: string): { readonly id: RequestId | undefined; readonly method: string | undefined } {
  let id: RequestId | undefined;
  let method: string | undefined;
  for (let at = skipSpace(text, skipSpace(text, 0) + 1); ;) {
    const head = memberHead(text, at);
    if (head === undefined || head.key === 'result' || head.key === 'error') break;
    if (head.key === 'params' && method !== undefined && id !== undefined) break;
    const end = skipValue(text, head.start);
    if (end === undefined) break;
    if (head.key === 'id') id = scalarIn(text.slice(head.start, end));
    else if (head.key === 'method') method = String(scalarIn(text.slice(head.start, end)));
    const next = skipSpace(text, end);
    if (text[next] !== ',') break;
    at = skipSpace(text, next + 1);
  }
  return { id, method };
}

function scalarIn(text: string): RequestId | undefined {
  try {
    const value = JSON.parse(text) as JsonObject[string];
    return isRequestId(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
