// One call of a client that cannot be asked in its middle (2026-07-28): what is asked of it answers the exchange, and a later exchange
// brings what was asked for. Carries the call from one to the next; which request may go on with which call is not its matter.
import type { ClientHost, HostRequest } from '../../kernel/client-host.ts';
import { logLevels, type ClientFacts, type LogLevel } from '../../kernel/dispatch.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, UpstreamReply } from '../../kernel/ports.ts';
import type { StatelessEra } from '../../wire/era.ts';
import { isInputRequest, missingFor } from '../../wire/input-required.ts';
import { encodeNotification, encodeResult, rpcCode, withId, type RequestId } from '../../wire/jsonrpc.ts';
import { isOfProtocol } from '../../wire/protocol-notices.ts';
import type { ReplySlot } from './in-flight.ts';

/** The request that carries the call at present. */
export interface Exchange {
  readonly id: RequestId;
  readonly slot: ReplySlot;
  /** The least severe log messages it wants; without one it gets none. */
  readonly logLevel: string | undefined;
}

export interface AskingCall {
  /** Where the answer goes, whichever exchange carries the call when it comes. */
  readonly slot: ReplySlot;
  readonly host: ClientHost;
  /** What the client was asked last: methods by the keys under which the responses come. */
  asked(): ReadonlyMap<string, string>;
  /** Goes on in this exchange. `responses` has what was asked for, and nothing else. */
  resume(exchange: Exchange, responses: JsonObject): void;
  /** Nobody will come back: whoever asked is told so. */
  giveUp(why: string): void;
}

interface Ask {
  readonly method: string;
  readonly params: string | undefined;
  resolve(reply: UpstreamReply): void;
  reject(error: AppError): void;
}

export interface AskingCallDeps {
  readonly era: StatelessEra;
  readonly clock: Clock;
  readonly client: ClientFacts;
  /** Whether the method may be answered with a question. */
  readonly mayAsk: boolean;
  readonly exchange: Exchange;
  /** The state under which the call will be found when it waits; throws `host.gone` where it may not. */
  readonly park: (call: AskingCall) => string;
  /** The exchange is over, or carries the call no longer. */
  readonly left: (slot: ReplySlot) => void;
}

export function createAskingCall({ era, clock, client, mayAsk, park, left, ...deps }: AskingCallDeps): AskingCall {
  let exchange: Exchange | undefined = deps.exchange;
  const { id: firstId } = deps.exchange;
  const asks = new Map<string, Ask>();
  let shown: ReadonlyMap<string, string> = new Map();
  /** An answer that came while nobody was there to take it. */
  let held: { readonly message: string; readonly status: number | undefined } | undefined;
  let counted = 0;
  let gathering = false;
  let over = false;

  function finish(): void {
    over = true;
    refuseAll(gone('The call is over.'));
  }

  function refuseAll(error: AppError): void {
    for (const ask of asks.values()) ask.reject(error);
    asks.clear();
  }

  /** Takes the call off its exchange. */
  function leave(): Exchange | undefined {
    const last = exchange;
    exchange = undefined;
    if (last !== undefined) left(last.slot);
    return last;
  }

  /** Answers are written for the request that began the call. */
  function answer({ id, slot }: Exchange, message: string, status: number | undefined): void {
    slot.answer(id === firstId ? message : withId(message, id), status);
  }

  function gather(): void {
    if (gathering || exchange === undefined) return;
    gathering = true;
    // What is asked at once is shown at once.
    clock.soon(() => {
      gathering = false;
      show();
    });
  }

  function show(): void {
    if (exchange === undefined || asks.size === 0) return;
    let state: string;
    try {
      state = park(call);
    } catch (thrown) {
      refuseAll(asAppError(thrown));
      return;
    }
    shown = new Map([...asks].map(([key, { method }]) => [key, method]));
    const wanted = [...asks].map(([key, { method, params }]) => ({ key, method, params }));
    const last = leave();
    last?.slot.answer(encodeResult(last.id, era.results.inputRequired(wanted, state)));
  }

  function ask({ method, params, signal }: HostRequest): Promise<UpstreamReply> {
    if (over || !mayAsk) return Promise.reject(gone(over ? 'The call is over.' : notHere));
    if (signal.aborted) return Promise.reject(takenBack());
    const refusal = refusalOf(method, params, client.capabilities);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamReply>();
    counted += 1;
    const key = `ask-${counted}`;
    const withdraw = (): void => {
      asks.delete(key);
      reject(takenBack());
    };
    signal.addEventListener('abort', withdraw, { once: true });
    const settled = (): void => signal.removeEventListener('abort', withdraw);
    asks.set(key, { method, params, resolve, reject });
    promise.then(settled, settled);
    gather();
    return promise;
  }

  function notify(method: string, params: string | undefined): void {
    if (exchange === undefined) return;
    const { logLevel, slot } = exchange;
    const wanted = method === 'notifications/message' ? wants(logLevel, params) : !isOfProtocol(method);
    if (wanted) slot.notice(encodeNotification(method, params));
  }

  const call: AskingCall = {
    slot: {
      get streams() {
        return exchange?.slot.streams ?? false;
      },
      notice: (message) => exchange?.slot.notice(message) ?? false,
      keepAlive: () => exchange?.slot.keepAlive(),
      answer(message, status) {
        finish();
        const last = leave();
        if (last === undefined) held = { message, status };
        else answer(last, message, status);
      },
      abandon() {
        finish();
        leave()?.slot.abandon();
      },
    },
    host: { capabilities: client.capabilities, info: client.info, ask, notify },
    asked: () => shown,
    resume(next, responses) {
      const answered = shown;
      shown = new Map();
      if (held !== undefined) {
        left(next.slot);
        answer(next, held.message, held.status);
        return;
      }
      exchange = next;
      for (const key of answered.keys()) {
        // Whoever asked may have taken the question back meanwhile.
        const waiting = asks.get(key);
        asks.delete(key);
        const value = responses[key] as JsonObject;
        waiting?.resolve({ kind: 'result', json: JSON.stringify(value), value });
      }
      if (asks.size > 0) gather();
    },
    giveUp: (why) => refuseAll(gone(why)),
  };
  return call;
}

const notHere = 'In revision 2026-07-28 only tools/call, prompts/get and resources/read may ask their client for something.';

/** The error for whoever asks; a client is never shown what it did not say it can answer. */
function refusalOf(method: string, params: string | undefined, capabilities: JsonObject): UpstreamReply | undefined {
  if (!isInputRequest(method))
    return refused(rpcCode.methodNotFound, `A client of revision 2026-07-28 cannot be asked '${method.slice(0, 64)}'.`);
  if (params === undefined && method !== 'roots/list') return refused(rpcCode.invalidParams, `${method} needs params.`);
  const value = params === undefined ? {} : (JSON.parse(params) as JsonObject);
  const requiredCapabilities = missingFor(method, value, capabilities);
  if (requiredCapabilities === undefined) return undefined;
  return refused(rpcCode.missingCapability, 'The client did not say that it can do this.', { requiredCapabilities });
}

function refused(code: number, message: string, data?: JsonObject): UpstreamReply {
  return { kind: 'error', code, json: JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) }) };
}

function wants(lowest: string | undefined, params: string | undefined): boolean {
  if (lowest === undefined || params === undefined) return false;
  const { level } = JSON.parse(params) as { readonly level?: unknown };
  const rank = logLevels.indexOf(level as LogLevel);
  return rank !== -1 && rank >= logLevels.indexOf(lowest as LogLevel);
}

function gone(why: string): AppError {
  return new AppError('unavailable', 'host.gone', why);
}

function takenBack(): AppError {
  return new AppError('unavailable', 'fleet.cancelled', 'The question was taken back.');
}
