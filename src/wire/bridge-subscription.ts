// A subscription of 2026-07-28 as the bridge keeps it: it outlives the daemon. When its stream ends it is made again, and the client is
// told that its lists and resources may have changed meanwhile; what the client sees is one subscription, acknowledged once.
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../kernel/json.ts';
import { handOver, isEventStream } from './bridge-http.ts';
import { changingLists, messageIn } from './bridge-target.ts';
import { encodeNotification, isObject, type RequestId } from './jsonrpc.ts';
import { metaKey } from './request-envelope.ts';

const firstPauseMs = 500;
const longestPauseMs = 15_000;

/**
 * Resolves when the client took it back, or with the answer that is no stream: the one to the first attempt, or why it cannot be made
 * again. Rejects only when the first attempt fails.
 */
export async function keepSubscribed(deps: {
  readonly id: RequestId;
  readonly post: () => Promise<IncomingMessage>;
  readonly onMessage: (text: string) => Promise<void>;
  readonly signal: AbortSignal;
}): Promise<IncomingMessage | undefined> {
  const { id, post, onMessage, signal } = deps;
  let acknowledged = false;

  /** `nothing`: the stream ended before it said anything that matters. */
  async function listenOnce(incoming: IncomingMessage): Promise<'stood' | 'answered' | 'nothing'> {
    let stood = false;
    let answered = false;
    try {
      await handOver(incoming, async (text) => {
        const message = messageIn(text);
        if (message?.['method'] !== 'notifications/subscriptions/acknowledged') {
          // The daemon ends it in good order when it stops; for the client it goes on. One to nothing is over at once.
          const last = message?.['id'] === id;
          if (last && !stood) answered = true;
          if (!last || !stood) await onMessage(text);
          return;
        }
        const { notifications } = isObject(message['params']) ? message['params'] : {};
        const promised = isObject(notifications) ? notifications : {};
        stood = Object.keys(promised).length > 0;
        if (!acknowledged) await onMessage(text);
        else {
          for (const list of changingLists) if (promised[`${list}ListChanged`] === true) await onMessage(listChanged(id, list));
          for (const uri of urisIn(promised['resourceSubscriptions'])) await onMessage(updated(id, uri));
        }
        acknowledged = true;
      });
    } catch {
      // Broken off: the same as its end.
    }
    if (stood) return 'stood';
    return answered ? 'answered' : 'nothing';
  }

  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    const incoming = await post().catch((error: unknown) => {
      if (!acknowledged) throw error;
    });
    if (incoming !== undefined) {
      const status = incoming.statusCode ?? 0;
      if (isEventStream(incoming)) {
        const outcome = await listenOnce(incoming);
        if (outcome === 'answered') return undefined;
        if (outcome === 'stood') pauseMs = firstPauseMs;
        else if (!acknowledged) throw new Error('the stream ended before the subscription was acknowledged');
      } else if (!acknowledged || (status >= 400 && status < 500)) return incoming;
      // What was given once is refused for now only: the daemon stops, or has no room.
      else incoming.resume();
    }
    await pause(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
  return undefined;
}

/** Whether it changed while nobody listened, nobody knows. */
function updated(subscription: RequestId, uri: string): string {
  const params = JSON.stringify({ uri, _meta: { [metaKey.subscriptionId]: subscription } });
  return encodeNotification('notifications/resources/updated', params);
}

function urisIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((uri) => typeof uri === 'string') : [];
}

function listChanged(subscription: RequestId, list: (typeof changingLists)[number]): string {
  const params = JSON.stringify({ _meta: { [metaKey.subscriptionId]: subscription } });
  return encodeNotification(`notifications/${list}/list_changed`, params);
}
