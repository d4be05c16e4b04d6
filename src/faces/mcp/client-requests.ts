// Requests to the client of a session, in flight from the moment somebody asks until the client answers, the asker takes it back or the
// session ends. An answer is the client's own text, checked. Knows neither who asks nor whether he may.
import type { ClientHost, HostRequest } from '../../kernel/client-host.ts';
import { AppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, Entropy, Unsubscribe, UpstreamReply } from '../../kernel/ports.ts';
import type { ClientClaims } from '../../wire/era.ts';
import { readFrame, splitBatch } from '../../wire/frame-slice.ts';
import { encodeNotification, encodeRequest, type RequestId } from '../../wire/jsonrpc.ts';
import { withMeta } from '../../wire/request-meta.ts';
import { offerOnCall, tellSession, type Streams } from './session-messages.ts';

/** In flight at once in one session. */
export const maxAsks = 64;
/** How long a request waits for a stream that can carry it: clients open theirs soon after they have a session, and again when it broke. */
export const streamWaitMs = 5_000;

interface Ask {
  readonly onProgress: HostRequest['onProgress'];
  /** The whole request while no stream has carried it yet. */
  waiting: string | undefined;
  stopWaiting: Unsubscribe | undefined;
  /** Gives up the signal. */
  settle(): void;
  resolve(reply: UpstreamReply): void;
  reject(error: AppError): void;
}

/** What a session keeps of it. */
export interface AskHome extends Streams {
  readonly asks: Map<RequestId, Ask>;
  /** The session is over: nobody can be asked any more. */
  over: boolean;
}

export interface ClientRequests {
  /** The one host of a session. */
  hostOf(session: AskHome, claims: ClientClaims): ClientHost;
  /** A stream has come: what waited for one goes out, in the order it was asked. */
  flush(session: AskHome): void;
  /** `text` is a whole response under `id`. Late, unknown and further ones are nothing. */
  answered(session: AskHome, id: RequestId, text: string): void;
  /** A message or batch that was refused: where it held answers, as far as that can be told, whoever asked is told `why`. */
  spoiled(session: AskHome, text: string, why: string): void;
  progressed(session: AskHome, id: RequestId, note: JsonObject): void;
  /** The client says that it will not answer. */
  givenUp(session: AskHome, id: RequestId): void;
  /** Nobody is there any more, for what was asked and for what will be. */
  end(session: AskHome): void;
}

export function createClientRequests({ clock, entropy }: { readonly clock: Clock; readonly entropy: Entropy }): ClientRequests {
  function ask(session: AskHome, { method, params, signal, onProgress }: HostRequest): Promise<UpstreamReply> {
    return new Promise((resolve, reject) => {
      if (session.over) return reject(gone());
      if (signal.aborted) return reject(takenBack(method, false));
      if (session.asks.size >= maxAsks) return reject(busy());
      // Of no other session, past or to come: a late answer must not meet another question.
      const id = entropy.uuid();
      const body = onProgress === undefined ? params : withMeta(params, `"progressToken":"${id}"`);
      const abort = (): void => {
        const sent = session.asks.get(id)?.waiting === undefined;
        take(session, id);
        if (sent) offerOnCall(session, cancellation(id));
        reject(takenBack(method, sent));
      };
      const one: Ask = {
        onProgress,
        waiting: encodeRequest(id, method, body),
        stopWaiting: undefined,
        settle: () => signal.removeEventListener('abort', abort),
        resolve,
        reject,
      };
      session.asks.set(id, one);
      signal.addEventListener('abort', abort, { once: true });
      if (!carried(session, one)) one.stopWaiting = clock.after(streamWaitMs, () => take(session, id)?.reject(gone()));
    });
  }

  return {
    hostOf: (session, { capabilities, info }) => ({
      capabilities,
      info,
      ask: (request) => ask(session, request),
      notify: (method, params) => notify(session, method, params),
    }),
    flush(session) {
      for (const one of session.asks.values()) if (one.waiting !== undefined && !carried(session, one)) return;
    },
    answered(session, id, text) {
      if (!isAsked(session, id)) return;
      const frame = readFrame(text);
      const one = take(session, id);
      if (frame?.kind === 'result') one?.resolve({ kind: 'result', json: frame.json, value: frame.value });
      else if (frame?.kind === 'error') one?.resolve({ kind: 'error', json: frame.json, code: frame.code });
      else one?.reject(noAnswer(`its answer is against JSON-RPC: ${frame?.kind === 'broken' ? frame.reason : 'no response'}`));
    },
    spoiled(session, text, why) {
      if (session.asks.size === 0) return;
      for (const one of splitBatch(text)) {
        const frame = readFrame(one);
        if (frame === undefined || frame.kind === 'request' || frame.kind === 'notification') continue;
        const id = frame.id as RequestId;
        if (isAsked(session, id)) take(session, id)?.reject(noAnswer(`its answer was refused: ${why}`));
      }
    },
    progressed(session, id, note) {
      if (!isAsked(session, id)) return;
      try {
        session.asks.get(id)?.onProgress?.(note);
      } catch {
        // Whoever asked cannot take the notice; the client did nothing wrong.
      }
    },
    givenUp(session, id) {
      if (isAsked(session, id)) take(session, id)?.reject(noAnswer('it gave the request up'));
    },
    end(session) {
      session.over = true;
      for (const id of session.asks.keys()) take(session, id)?.reject(gone());
    },
  };
}

/** What is followed changes whatever is called. Logs are about the moment and may be lost; everything else is told or kept. */
function notify(session: AskHome, method: string, params: string | undefined): void {
  if (session.over) return;
  const message = encodeNotification(method, params);
  const ofSession = method === 'notifications/resources/updated' && session.stream !== undefined;
  if (!ofSession && offerOnCall(session, message)) return;
  if (method !== 'notifications/message') tellSession(session, message);
}

function carried(session: AskHome, one: Ask): boolean {
  if (one.waiting === undefined || !offerOnCall(session, one.waiting)) return false;
  one.waiting = undefined;
  one.stopWaiting?.();
  one.stopWaiting = undefined;
  return true;
}

/** What has not left yet cannot be answered, whoever guesses its id. */
function isAsked({ asks }: AskHome, id: RequestId): boolean {
  return asks.get(id)?.waiting === undefined && asks.has(id);
}

function take({ asks }: AskHome, id: RequestId): Ask | undefined {
  const one = asks.get(id);
  if (one === undefined) return undefined;
  asks.delete(id);
  one.stopWaiting?.();
  one.settle();
  return one;
}

function cancellation(requestId: RequestId): string {
  return encodeNotification('notifications/cancelled', JSON.stringify({ requestId, reason: 'the server took it back' }));
}

function gone(): AppError {
  return new AppError('unavailable', 'host.gone', 'The client cannot be asked: its session is over, or it listens on no stream.', {
    hint: 'Use a client that keeps a stream open (GET), or takes event streams as answers.',
  });
}

function busy(): AppError {
  return new AppError('limited', 'host.busy', `The client has ${maxAsks} requests to answer already.`, { retryAfterMs: 1_000 });
}

function noAnswer(why: string): AppError {
  return new AppError('unavailable', 'host.no_answer', `The client gave no answer: ${why}.`);
}

function takenBack(method: string, sent: boolean): AppError {
  return new AppError('unavailable', 'fleet.cancelled', `${method.slice(0, 64)} was taken back by whoever asked.`, {
    data: { sent },
  });
}
