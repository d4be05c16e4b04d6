// A program over stdio that speaks MCP 2026-07-28 alone: the same pipe, requests that stand for themselves, one subscription among them.
// Knows no process.
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Clock, UpstreamConnection } from '../kernel/ports.ts';
import type { Peer } from '../wire/peer.ts';
import { metaKey } from '../wire/request-envelope.ts';
import { withoutMeta } from '../wire/request-meta.ts';
import { assertFinal, createModernWriter, invitesRetry, readDiscovery, type Discovery } from '../wire/upstream-2026.ts';
import { createSubscription, type SubscriptionStream } from './subscription.ts';

type Listener = (method: string, params: JsonObject | undefined, text: string | undefined) => void;

export interface ModernDeps {
  readonly clock: Clock;
  /** Said where a caller says nothing of itself. */
  readonly info: { readonly name: string; readonly version: string };
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export type ModernSession = Discovery &
  Pick<UpstreamConnection, 'request' | 'subscribe' | 'unsubscribe' | 'notify' | 'onNotification'>;

const acknowledged = 'notifications/subscriptions/acknowledged';
const updated = 'notifications/resources/updated';
/** A subscription lasts as long as its connection; timers take no more than 2^31 ms. */
const listenMs = 2 ** 31 - 1;

/** `undefined` when it does not say that it speaks this revision. Rejects as `Peer.request` does. */
export async function openModern(
  { peer, listeners }: { readonly peer: Peer; readonly listeners: Listener[] },
  { clock, info, signal, timeoutMs }: ModernDeps,
): Promise<ModernSession | undefined> {
  const writer = createModernWriter(info);
  let awaited: SubscriptionStream | undefined;
  const subscription = createSubscription({
    clock,
    open: listen,
    missed: (uri) => tell(updated, { uri }, JSON.stringify({ uri })),
  });

  function listen(params: string, stream: SubscriptionStream): () => void {
    const over = new AbortController();
    // One subscription is begun at a time, so the next acknowledgement is of this one.
    awaited = stream;
    peer.request('subscriptions/listen', writer.params(params, undefined), { signal: over.signal, timeoutMs: listenMs }).then(
      (reply) =>
        stream.ended(ended(reply.kind === 'error' ? `refused to tell of changes (error ${reply.code})` : 'stopped telling')),
      (error: AppError) => stream.ended(error),
    );
    return () => over.abort();
  }

  const own: Listener[] = [];
  function tell(...notice: Parameters<Listener>): void {
    for (const listener of own) listener(...notice);
  }

  async function discover() {
    return peer.request('server/discover', writer.params(undefined, undefined), { signal, timeoutMs });
  }

  const first = await discover();
  const discovery = readDiscovery(invitesRetry(first) ? await discover() : first);
  if (discovery === undefined) return undefined;
  listeners.push((method, params, text) => {
    if (method !== acknowledged)
      return tell(method, params, text === undefined ? undefined : withoutMeta(text, metaKey.subscriptionId));
    awaited?.acknowledged(params);
    awaited = undefined;
    return undefined;
  });
  subscription.listen();
  return {
    ...discovery,
    async request(method, params, options) {
      const reply = await peer.request(method, writer.requestParams(params, options), options);
      assertFinal(reply, options);
      return reply;
    },
    subscribe: (uri, options) => subscription.add(uri, options),
    unsubscribe: (uri) => subscription.remove(uri),
    // The client of this revision has nothing to tell but what it cancels.
    notify: () => undefined,
    onNotification: (listener) => void own.push(listener),
  };
}

function ended(what: string): AppError {
  return new AppError('unavailable', 'fleet.protocol', `The upstream ${what}.`, { data: { sent: true } });
}
