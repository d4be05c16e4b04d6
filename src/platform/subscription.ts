// The one subscription a connection of 2026-07-28 keeps (`subscriptions/listen`). What it covers changes only by another one that takes its
// place: the old one goes when the new one is acknowledged, so that nothing is missed in between. Knows no transport.
import { AppError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Clock, Unsubscribe, UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';

export interface Subscription {
  /** Begins to listen for changed lists, in the background. */
  listen(): void;
  /** Resolves when the upstream acknowledged a subscription with it, or refused. Rejects with `fleet.timeout`, `fleet.cancelled`, or why there is none. */
  add(uri: string, patience: Pick<UpstreamRequestOptions, 'signal' | 'timeoutMs'>): Promise<UpstreamReply>;
  remove(uri: string): Promise<UpstreamReply>;
  stop(): void;
}

export interface SubscriptionStream {
  /** `notifications/subscriptions/acknowledged` came; again when the stream was broken and is there once more. */
  acknowledged(params: JsonObject | undefined): void;
  /** There is no such stream, or not any more. */
  ended(why: AppError): void;
}

export interface SubscriptionDeps {
  readonly clock: Clock;
  /** `params` is the JSON text of `subscriptions/listen`, without its envelope. Returns what ends the stream. */
  readonly open: (params: string, stream: SubscriptionStream) => () => void;
  /** Something may have changed while nobody listened. */
  readonly missed: (uri: string) => void;
}

const acknowledgeMs = 10_000;
/** Before one that the upstream ended is asked for again. */
const againMs = 5_000;
const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
const agreed: UpstreamReply = { kind: 'result', json: '{}', value: {} };

interface Covered {
  readonly uris: ReadonlySet<string>;
  readonly stop: () => void;
}

export function createSubscription({ clock, open, missed }: SubscriptionDeps): Subscription {
  const wanted = new Set<string>();
  let followsLists = false;
  let current: Covered | undefined;
  let stopped = false;
  /** What was covered by one that the upstream ended. */
  let broken: ReadonlySet<string> = new Set();
  let stopTimer: Unsubscribe | undefined;
  let turn: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  /** One after the other; whoever asks while one waits its turn is served by that one. */
  function renew(): Promise<void> {
    if (queued !== undefined) return queued;
    const renewed = turn.then(() => {
      queued = undefined;
      return replace();
    });
    queued = renewed;
    turn = renewed.catch(() => undefined);
    return renewed;
  }

  async function replace(): Promise<void> {
    const before = current;
    const uris = [...wanted];
    if (stopped || (!followsLists && uris.length === 0)) {
      before?.stop();
      current = undefined;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlySet<string>>();
    let covered: ReadonlySet<string> | undefined;
    const notifications = { ...(followsLists ? lists : {}), ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }) };
    const stop = open(JSON.stringify({ notifications }), {
      acknowledged(params) {
        if (covered !== undefined) covered.forEach(missed);
        else resolve((covered = coveredBy(params, uris)));
      },
      ended(why) {
        reject(why);
        if (current?.stop === stop) again(current.uris);
      },
    });
    const stopWaiting = clock.after(acknowledgeMs, () => reject(unacknowledged(acknowledgeMs)));
    try {
      current = { uris: await promise, stop };
      before?.stop();
    } catch (error) {
      stop();
      throw error;
    } finally {
      stopWaiting();
    }
    if (stopped) stop();
    const heardNothing = broken;
    broken = new Set();
    for (const uri of heardNothing) if (current.uris.has(uri)) missed(uri);
  }

  function again(uris: ReadonlySet<string>): void {
    current = undefined;
    broken = uris;
    if (stopped) return;
    stopTimer?.();
    stopTimer = clock.after(againMs, () => void renew().catch(() => again(broken)));
  }

  /** The wait of one of those whom it serves. */
  async function inTime(
    work: Promise<void>,
    { signal, timeoutMs }: Pick<UpstreamRequestOptions, 'signal' | 'timeoutMs'>,
  ): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const leave = (): void => reject(new AppError('unavailable', 'fleet.cancelled', 'It was cancelled.', { data: { sent: true } }));
    const stopWaiting = clock.after(timeoutMs, () => reject(unacknowledged(timeoutMs)));
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    try {
      await Promise.race([work, promise]);
    } finally {
      stopWaiting();
      signal.removeEventListener('abort', leave);
    }
  }

  return {
    listen() {
      followsLists = true;
      renew().catch(() => undefined);
    },
    async add(uri, patience) {
      if (current?.uris.has(uri) === true && wanted.has(uri)) return agreed;
      wanted.add(uri);
      try {
        await inTime(renew(), patience);
      } catch (error) {
        wanted.delete(uri);
        throw error;
      }
      if (current?.uris.has(uri) === true) return agreed;
      wanted.delete(uri);
      return {
        kind: 'error',
        code: -32602,
        json: JSON.stringify({ code: -32602, message: 'The server did not agree to tell of it.' }),
      };
    },
    async remove(uri) {
      if (wanted.delete(uri)) await renew();
      return agreed;
    },
    stop() {
      stopped = true;
      stopTimer?.();
      current?.stop();
      current = undefined;
    },
  };
}

/** An acknowledgement that names nothing agrees to everything. */
function coveredBy(params: JsonObject | undefined, uris: readonly string[]): ReadonlySet<string> {
  const { notifications } = params ?? {};
  const named: Json | undefined = isObject(notifications) ? (notifications['resourceSubscriptions'] ?? []) : undefined;
  return new Set(Array.isArray(named) ? uris.filter((uri) => named.includes(uri)) : uris);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unacknowledged(ms: number): AppError {
  return new AppError(
    'unavailable',
    'fleet.timeout',
    `The upstream did not acknowledge a subscription within ${Math.round(ms)} ms.`,
    {
      hint: 'Try again; read the resource when you need to know.',
      data: { sent: true },
    },
  );
}
