// Our half of a JSON-RPC 2.0 session with an upstream: ids and progress tokens of our own, deadlines, cancellation. Frames are handled one
// by one, in the order they came, before `receive` returns, so progress never falls behind its result. What the upstream asks or tells goes
// to the client it is about, or to nobody. Knows no pipe and no tool.
import type { ClientHost } from '../kernel/client-host.ts';
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { createNumbered } from '../lib/numbered.ts';
import type { Clock, Unsubscribe, UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';
import { createAsks, longestAskMs, type AskRoute } from './asks.ts';
import { readFrame, splitBatch, type Frame } from './frame-slice.ts';
import { withProgressToken } from './progress-token.ts';

/** More lines than this that are no JSON-RPC, within the window, and the upstream is not speaking the protocol. */
export const garbageBound = { lines: 1_000, perMs: 10_000 } as const;
const maxPending = 4_096;
/** What the gateway asks for itself: no client stands behind these, and nothing an upstream wants to know is about them. */
const housekeeping =
  /^(?:initialize|ping|server\/discover|subscriptions\/listen|logging\/setLevel|resources\/(?:un)?subscribe|(?:tools|prompts|resources|resources\/templates)\/list)$/;
/** About the connection as a whole, not about anybody's call. */
const ofConnection = /^notifications\/(?:\w+\/list_changed|resources\/updated|subscriptions\/acknowledged|tasks(?:\/.*)?)$/;

export interface PeerOptions {
  /** Queues one line; throws when the channel is closed or too far behind. `id` is that of a request which waits for its answer. */
  readonly send: (line: string, id?: number) => void;
  readonly clock: Clock;
  /** The client this connection is for, of whom the upstream is told; without one nothing it asks is answered but pings. */
  readonly host?: ClientHost | undefined;
  /** Notices about the connection as a whole. */
  readonly onNotification: (method: string, params: JsonObject | undefined, text: string | undefined) => void;
  /** The other side broke the protocol for good; the owner ends the channel. Called once. */
  readonly onBroken: (error: AppError) => void;
}

/** What was dropped, for the operator. */
export interface PeerCounts {
  /** Responses to requests that had ended, or that were never made. */
  readonly late: number;
  readonly garbage: number;
  /** Progress under a token nobody waits for. */
  readonly strayProgress: number;
}

export interface Peer {
  /**
   * Rejects with `fleet.timeout`, `fleet.cancelled`, `fleet.protocol`, `fleet.overloaded` or the error given to `end`. `data.sent`
   * is false when it is certain that nothing left.
   */
  request(method: string, params: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamReply>;
  notify(method: string, params?: JsonObject): void;
  /** `via` is the id of the request on whose stream the line came, where the channel has one for each. */
  receive(line: string, via?: number): void;
  /** A line the framing had to drop. */
  dropped(): void;
  /** The request with this id will have no answer; nothing happens when it is settled already. */
  fail(id: number, error: AppError): void;
  /** Does the request with this id still wait? */
  waits(id: number): boolean;
  /** Does anything the upstream asked wait for its answer? */
  asking(): boolean;
  /** Nothing the upstream asked has an answer any more. */
  forgetAsks(): void;
  /** The channel is gone: everything in flight, and everything asked later, fails with this error. */
  end(error: AppError): void;
  counts(): PeerCounts;
}

/** A request that reports progress is at work: its time begins anew with each notice, so many times as long in all (MCP, "Timeouts"). */
const mostSpells = 10;

interface Pending {
  readonly method: string;
  /** Moves on by what is spent on asking, and begins anew with each progress notice, but not beyond `latest`. */
  deadline: number;
  latest: number;
  readonly timeoutMs: number;
  readonly onProgress: UpstreamRequestOptions['onProgress'];
  readonly host: ClientHost | undefined;
  /** Gives up what is asked for it; while there are any its deadline stands still, for `patienceMs` in all. */
  asks: Set<() => void> | undefined;
  pausedAt: number;
  patienceMs: number;
  settle(): void;
  resolve(reply: UpstreamReply): void;
  reject(error: AppError): void;
}

export function createPeer({ send, clock, host, onNotification, onBroken }: PeerOptions): Peer {
  const pending = createNumbered<Pending>();
  const asks = createAsks({ clock, send, declared: host !== undefined });
  const counts = { late: 0, garbage: 0, strayProgress: 0 };
  let lastId = 0;
  let ended: AppError | undefined;
  let windowStart = clock.monotonic();
  let windowLines = 0;

  // One timer for all requests: it waits for the earliest deadline it knew of; finding that one gone, it moves on to the next.
  let wakeAt = Infinity;
  let stopTimer: Unsubscribe | undefined;

  function watch(deadline: number): void {
    if (deadline >= wakeAt) return;
    stopTimer?.();
    wakeAt = deadline;
    stopTimer = clock.after(Math.max(0, deadline - clock.monotonic()), expire);
  }

  function expire(): void {
    wakeAt = Infinity;
    stopTimer = undefined;
    const now = clock.monotonic();
    let next = Infinity;
    for (const [id, entry] of pending.all()) {
      const dueAt = isPaused(entry) ? entry.deadline + entry.patienceMs : entry.deadline;
      if (dueAt <= now) timeOut(id, entry);
      else next = Math.min(next, dueAt);
    }
    if (next !== Infinity) watch(next);
  }

  function timeOut(id: number, entry: Pending): void {
    leave(id);
    tellCancelled(id, entry.method, 'deadline passed');
    entry.reject(timeoutError(entry));
  }

  function tellCancelled(id: number, method: string, reason: string): void {
    // MCP forbids to cancel initialize; a start that is given up ends with its process.
    if (method === 'initialize') return;
    try {
      notify('notifications/cancelled', { requestId: id, reason });
    } catch {
      // The channel is closed or stuck: there is nobody to tell.
    }
  }

  function take(id: number): Pending | undefined {
    const entry = pending.take(id);
    entry?.settle();
    return entry;
  }

  /** Without an answer: nobody is to be bothered any more for its sake. */
  function leave(id: number): Pending | undefined {
    const entry = take(id);
    if (entry?.asks === undefined) return entry;
    const asked = entry.asks;
    entry.asks = undefined;
    for (const giveUp of asked) giveUp();
    return entry;
  }

  function notify(method: string, params?: JsonObject): void {
    send(JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }));
  }

  function request(method: string, params: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamReply> {
    const { signal, timeoutMs, onProgress } = options;
    return new Promise((resolve, reject) => {
      if (ended !== undefined)
        return reject(new AppError(ended.kind, ended.code, ended.message, { data: { ...ended.data, sent: false } }));
      if (signal.aborted) return reject(cancelledError(method, false));
      if (pending.size >= maxPending) return reject(overloaded());
      do lastId += 1;
      while (!pending.hasPlace(lastId));
      const id = lastId;
      const abort = (): void => {
        leave(id);
        tellCancelled(id, method, 'the caller cancelled');
        reject(cancelledError(method, true));
      };
      const body = onProgress === undefined ? params : withProgressToken(params, id);
      try {
        send(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${body === undefined ? '' : `,"params":${body}`}}`, id);
      } catch (error) {
        return reject(error);
      }
      const deadline = clock.monotonic() + timeoutMs;
      pending.put(id, {
        method,
        deadline,
        latest: deadline + (mostSpells - 1) * timeoutMs,
        timeoutMs,
        onProgress,
        host: options.host,
        asks: undefined,
        pausedAt: 0,
        patienceMs: longestAskMs,
        resolve,
        reject,
        settle: () => signal.removeEventListener('abort', abort),
      });
      signal.addEventListener('abort', abort, { once: true });
      watch(deadline);
    });
  }

  function handle(frame: Frame, via: number | undefined): void {
    if (frame.kind === 'notification') return receiveNotification(frame, via);
    if (frame.kind === 'request') return asks.receive(frame, () => routeOf(via));
    const entry = typeof frame.id === 'number' ? take(frame.id) : undefined;
    if (entry === undefined) counts.late += 1;
    else if (frame.kind === 'result') entry.resolve({ kind: 'result', json: frame.json, value: frame.value });
    else if (frame.kind === 'error') entry.resolve({ kind: 'error', json: frame.json, code: frame.code });
    else entry.reject(protocolError(`The upstream answered ${entry.method} against JSON-RPC: ${frame.reason}.`));
  }

  function receiveNotification({ method, params, text }: Extract<Frame, { kind: 'notification' }>, via: number | undefined): void {
    if (method === 'notifications/progress') return receiveProgress(params ?? {});
    if (method === 'notifications/cancelled') return receiveCancelled(params);
    if (ofConnection.test(method)) return onNotification(method, params, text);
    guarded(() => hostOf(via)?.notify(method, text));
  }

  /** Of what it asked itself; in 2026-07-28 of a subscription as well, and of no other request of ours. */
  function receiveCancelled(params: JsonObject | undefined): void {
    asks.cancelled(params);
    const id = params?.['requestId'];
    if (typeof id !== 'number' || pending.get(id)?.method !== 'subscriptions/listen') return;
    take(id)?.reject(protocolError('The upstream ended the subscription.'));
  }

  function receiveProgress({ progressToken, ...note }: JsonObject): void {
    const entry = typeof progressToken === 'number' ? pending.get(progressToken) : undefined;
    const listener = entry?.onProgress;
    if (entry === undefined || listener === undefined) {
      counts.strayProgress += 1;
      return;
    }
    // The timer is left as it is: when it wakes it sees that it is early.
    entry.deadline = Math.max(entry.deadline, Math.min(entry.latest, clock.monotonic() + entry.timeoutMs));
    guarded(() => listener(note));
  }

  /** The client this is about: of the call on whose stream it came, else the one that all calls share, else the one of the connection. */
  function hostOf(via: number | undefined): ClientHost | undefined {
    if (via !== undefined) return pending.get(via)?.host ?? host;
    let sole: ClientHost | undefined;
    let calls = 0;
    for (const [, entry] of pending.all()) {
      if (housekeeping.test(entry.method)) continue;
      if (calls > 0 && entry.host !== sole) return undefined;
      sole = entry.host;
      calls += 1;
    }
    return calls === 0 ? host : sole;
  }

  function routeOf(via: number | undefined): AskRoute | undefined {
    const asked = hostOf(via);
    if (asked === undefined) return undefined;
    const ofTheirs = (): Pending[] => pending.all().flatMap(([, entry]) => (entry.host === asked ? [entry] : []));
    const waiting = via === undefined ? ofTheirs() : [pending.get(via)];
    return { host: asked, pause: (giveUp) => pause(waiting, giveUp) };
  }

  function pause(waiting: readonly (Pending | undefined)[], giveUp: () => void): () => void {
    for (const entry of waiting) {
      if (entry === undefined) continue;
      if (!isPaused(entry)) entry.pausedAt = clock.monotonic();
      (entry.asks ??= new Set()).add(giveUp);
    }
    return () => {
      for (const entry of waiting) {
        if (entry?.asks?.delete(giveUp) !== true || isPaused(entry)) continue;
        const spentMs = Math.min(entry.patienceMs, clock.monotonic() - entry.pausedAt);
        entry.patienceMs -= spentMs;
        entry.deadline += spentMs;
        entry.latest += spentMs;
        watch(entry.deadline);
      }
    };
  }

  function garbage(): void {
    counts.garbage += 1;
    const now = clock.monotonic();
    if (now - windowStart > garbageBound.perMs) {
      windowStart = now;
      windowLines = 0;
    }
    windowLines += 1;
    if (windowLines <= garbageBound.lines || ended !== undefined) return;
    const error = protocolError(
      `The upstream wrote more than ${garbageBound.lines} lines to stdout that are no JSON-RPC message within ${garbageBound.perMs / 1000} s.`,
    );
    end(error);
    onBroken(error);
  }

  function end(error: AppError): void {
    if (ended !== undefined) return;
    ended = error;
    stopTimer?.();
    asks.end();
    for (const [id] of pending.all()) take(id)?.reject(error);
  }

  return {
    request,
    notify,
    receive(line, via) {
      if (ended !== undefined) return;
      const texts = splitBatch(line);
      if (texts.length === 0) garbage();
      for (const text of texts) {
        const frame = readFrame(text);
        if (frame === undefined) garbage();
        else handle(frame, via);
      }
    },
    dropped: garbage,
    fail: (id, error) => leave(id)?.reject(error),
    waits: (id) => pending.get(id) !== undefined,
    asking: () => asks.outstanding() > 0,
    forgetAsks: () => asks.end(),
    end,
    counts: () => ({ ...counts }),
  };
}

function isPaused({ asks }: Pending): boolean {
  return asks !== undefined && asks.size > 0;
}

/** Whoever cannot take a notice loses that notice; the session is everybody's. */
function guarded(listener: () => void): void {
  try {
    listener();
  } catch {
    // It was told.
  }
}

function timeoutError({ method, timeoutMs, deadline, latest }: Pending): AppError {
  const spent =
    deadline < latest
      ? `within ${Math.round(timeoutMs)} ms`
      : `within ${Math.round(mostSpells * timeoutMs)} ms, for all its progress`;
  return new AppError('unavailable', 'fleet.timeout', `The upstream did not answer ${method} ${spent}.`, {
    hint: 'It was told to cancel. If the call writes, look at what it did before calling again.',
    data: { sent: true },
  });
}

function cancelledError(method: string, sent: boolean): AppError {
  return new AppError('unavailable', 'fleet.cancelled', `${method} was cancelled by its caller.`, { data: { sent } });
}

function protocolError(message: string): AppError {
  return new AppError('unavailable', 'fleet.protocol', message, {
    hint: 'The server breaks the MCP protocol; ask its authors, or run it by hand and look at its output.',
    data: { sent: true },
  });
}

function overloaded(): AppError {
  return new AppError('limited', 'fleet.overloaded', `The upstream already has ${maxPending} requests in flight.`, {
    retryAfterMs: 1_000,
    data: { sent: false },
  });
}
