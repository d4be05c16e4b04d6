// Our half of a JSON-RPC 2.0 session with an upstream: ids and progress tokens of our own, deadlines, cancellation. Frames are handled one
// by one, in the order they came, before `receive` returns, so progress never falls behind its result. Knows no pipe and no tool.
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Clock, Unsubscribe, UpstreamReply, UpstreamRequestOptions } from '../kernel/ports.ts';
import { readFrame, splitBatch, type Frame } from './frame-slice.ts';
import { withProgressToken } from './progress-token.ts';

/** More lines than this that are no JSON-RPC, within the window, and the upstream is not speaking the protocol. */
export const garbageBound = { lines: 1_000, perMs: 10_000 } as const;
const maxPending = 4_096;
const maxMethodShown = 64;

export interface PeerOptions {
  /** Queues one line; throws when the channel is closed or too far behind. `id` is that of a request which waits for its answer. */
  readonly send: (line: string, id?: number) => void;
  readonly clock: Clock;
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
  receive(line: string): void;
  /** A line the framing had to drop. */
  dropped(): void;
  /** The request with this id will have no answer; nothing happens when it is settled already. */
  fail(id: number, error: AppError): void;
  /** Does the request with this id still wait? */
  waits(id: number): boolean;
  /** The channel is gone: everything in flight, and everything asked later, fails with this error. */
  end(error: AppError): void;
  counts(): PeerCounts;
}

interface Pending {
  readonly method: string;
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly onProgress: UpstreamRequestOptions['onProgress'];
  settle(): void;
  resolve(reply: UpstreamReply): void;
  reject(error: AppError): void;
}

export function createPeer({ send, clock, onNotification, onBroken }: PeerOptions): Peer {
  const pending = new Map<number, Pending>();
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
    for (const [id, entry] of pending) {
      if (entry.deadline <= now) timeOut(id, entry);
      else next = Math.min(next, entry.deadline);
    }
    if (next !== Infinity) watch(next);
  }

  function timeOut(id: number, entry: Pending): void {
    take(id);
    tellCancelled(id, entry.method, 'deadline passed');
    entry.reject(timeoutError(entry.method, entry.timeoutMs));
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
    const entry = pending.get(id);
    if (entry === undefined) return undefined;
    pending.delete(id);
    entry.settle();
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
      const id = (lastId += 1);
      const abort = (): void => {
        take(id);
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
      pending.set(id, {
        method,
        deadline,
        timeoutMs,
        onProgress,
        resolve,
        reject,
        settle: () => signal.removeEventListener('abort', abort),
      });
      signal.addEventListener('abort', abort, { once: true });
      watch(deadline);
    });
  }

  function handle(frame: Frame): void {
    if (frame.kind === 'notification') return receiveNotification(frame);
    if (frame.kind === 'request') return answer(frame.id, frame.method);
    const entry = typeof frame.id === 'number' ? take(frame.id) : undefined;
    if (entry === undefined) counts.late += 1;
    else if (frame.kind === 'result') entry.resolve({ kind: 'result', json: frame.json, value: frame.value });
    else if (frame.kind === 'error') entry.resolve({ kind: 'error', json: frame.json, code: frame.code });
    else entry.reject(protocolError(`The upstream answered ${entry.method} against JSON-RPC: ${frame.reason}.`));
  }

  function receiveNotification({ method, params, text }: Extract<Frame, { kind: 'notification' }>): void {
    if (method !== 'notifications/progress') return onNotification(method, params, text);
    const { progressToken, ...note } = params ?? {};
    const listener = typeof progressToken === 'number' ? pending.get(progressToken)?.onProgress : undefined;
    if (listener === undefined) {
      counts.strayProgress += 1;
      return;
    }
    try {
      listener(note);
    } catch {
      // A caller that cannot take a notice loses that notice; the session is everybody's.
    }
  }

  /** Upstreams are shared, so nobody is there to sample, elicit or list roots for; only a ping has an answer. */
  function answer(id: string, method: string): void {
    const outcome =
      method === 'ping'
        ? '"result":{}'
        : `"error":${JSON.stringify({ code: -32601, message: `Method not found: ${method.slice(0, maxMethodShown)}` })}`;
    try {
      send(`{"jsonrpc":"2.0","id":${id},${outcome}}`);
    } catch {
      // It asks faster than it reads: its questions may go unanswered, our requests may not.
    }
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
    for (const id of pending.keys()) take(id)?.reject(error);
  }

  return {
    request,
    notify,
    receive(line) {
      if (ended !== undefined) return;
      const texts = splitBatch(line);
      if (texts.length === 0) garbage();
      for (const text of texts) {
        const frame = readFrame(text);
        if (frame === undefined) garbage();
        else handle(frame);
      }
    },
    dropped: garbage,
    fail: (id, error) => take(id)?.reject(error),
    waits: (id) => pending.has(id),
    end,
    counts: () => ({ ...counts }),
  };
}

function timeoutError(method: string, timeoutMs: number): AppError {
  return new AppError('unavailable', 'fleet.timeout', `The upstream did not answer ${method} within ${Math.round(timeoutMs)} ms.`, {
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
