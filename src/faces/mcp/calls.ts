// The requests in flight that upstreams answer, tool calls and others: into the gateway with progress, cancellation and whoever can be
// asked back, and out as exactly one answer each. What an upstream answered goes out as the text it is. Knows no transport and decides
// nothing.
import type { ClientHost } from '../../kernel/client-host.ts';
import type { Dispatch, ToolAnswer, ToolCall } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Era, SharedRequest } from '../../wire/era.ts';
import { encodeError, encodeErrorText, encodeResult, encodeResultParts, rpcCode, type RequestId } from '../../wire/jsonrpc.ts';
import { drawFailure, drawOutput, type ToolText } from './gate-convention.ts';
import { relayFailure } from './relay-failure.ts';
import type { CallHome, CallInFlight, ReplySlot } from './in-flight.ts';

export type CallRequest =
  | Extract<SharedRequest, { kind: 'call_tool' | 'relay' }>
  | { readonly kind: 'follow'; readonly uri: string; readonly host: ClientHost };

/** What a tool call and every other request have in common. */
type Asked = { -readonly [Key in keyof Omit<ToolCall, 'name'>]: ToolCall[Key] };

/** An upstream that follows a resource has nothing to say but that it does. */
const following: ToolAnswer = { kind: 'upstream', result: '{}' };

export interface Calls {
  start<Key>(home: CallHome<Key>, key: Key, id: RequestId, request: CallRequest, slot: ReplySlot): void;
  /** The client took it back: no answer, and the upstream is told. A key that is not in flight is nothing. */
  cancel<Key>(home: Pick<CallHome<Key>, 'calls'>, key: Key): void;
  /** Answers everything in flight with this error and stops it upstream. */
  failAll<Key>(home: Pick<CallHome<Key>, 'calls' | 'era'>, message: string): void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

/** `maxPerHome`: calls in flight at once in one session, or of one agent that has none. */
export function createCalls(deps: { readonly dispatch: Dispatch; readonly log: Log; readonly maxPerHome: number }): Calls {
  const { dispatch, log, maxPerHome } = deps;
  const waiting: (() => void)[] = [];
  let inFlight = 0;

  /** True for the one who may now give the answer, or give it up. */
  function take<Key>(calls: Map<Key, CallInFlight>, key: Key, call: CallInFlight): boolean {
    if (calls.get(key) !== call) return false;
    calls.delete(key);
    inFlight -= 1;
    if (inFlight === 0) for (const wake of waiting.splice(0)) wake();
    return true;
  }

  function refusal<Key>({ calls, era }: CallHome<Key>, key: Key, id: RequestId): string | undefined {
    if (calls.has(key)) {
      return encodeError(id, rpcCode.invalidRequest, 'A request with this id is still being answered. Use every id once.');
    }
    if (calls.size < maxPerHome) return undefined;
    return encodeError(id, era.codes.refused, `${maxPerHome} calls are in flight already. Wait for some of them.`);
  }

  return {
    start(home, key, id, request, slot) {
      const why = refusal(home, key, id);
      if (why !== undefined) {
        slot.answer(why);
        return;
      }
      const { era, calls } = home;
      const progressToken = request.kind === 'follow' ? undefined : request.progressToken;
      const call: CallInFlight = { id, progressToken, abort: new AbortController(), slot };
      calls.set(key, call);
      inFlight += 1;
      send(home, key, call, request).then(
        (answer) => {
          if (take(calls, key, call)) give(era, call, answer, request);
        },
        (thrown: unknown) => {
          if (take(calls, key, call)) refuse(era, call, request, thrown);
        },
      );
    },
    cancel({ calls }, key) {
      const call = calls.get(key);
      if (call === undefined || !take(calls, key, call)) return;
      call.slot.abandon();
      call.abort.abort();
    },
    failAll({ calls, era }, message) {
      for (const [key, call] of calls) {
        if (!take(calls, key, call)) continue;
        call.slot.answer(encodeError(call.id, era.codes.over, message));
        call.abort.abort();
      }
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  };

  function send<Key>(home: CallHome<Key>, key: Key, call: CallInFlight, request: CallRequest): Promise<ToolAnswer> {
    const { era, caller, scope, calls, host } = home;
    const { signal } = call.abort;
    if (request.kind === 'follow') {
      return dispatch.follow(caller, { scope, uri: request.uri, host: request.host, signal }).then(() => following);
    }
    const { args, rest, client } = request;
    const onProgress =
      call.progressToken === undefined
        ? undefined
        : (note: JsonObject): void => {
            if (calls.get(key) !== call || call.progressToken === undefined) return;
            call.slot.notice(era.notifications.progress(call.progressToken, note));
          };
    // Made in one piece and added to: this is where every call comes through.
    const asked: Asked = { scope, args, rest, signal, onProgress };
    if (client !== undefined) asked.client = client;
    if (host !== undefined) asked.host = host;
    return request.kind === 'call_tool'
      ? dispatch.callTool(caller, { ...asked, name: request.name })
      : dispatch.relay(caller, { ...asked, method: request.method, target: request.target });
  }

  function refuse(era: Era, { id, slot }: CallInFlight, request: CallRequest, thrown: unknown): void {
    const error = asAppError(thrown);
    if (error.kind === 'internal') {
      log.error('a call failed unexpectedly', { ...nameOf(request), code: error.code, error: error.message });
    }
    if (request.kind === 'call_tool') slot.answer(encodeResult(id, toolText(era, drawFailure(error, request.name))));
    else if (error.code === 'gateway.unknown_method')
      slot.answer(encodeError(id, rpcCode.methodNotFound, error.message), era.codes.noMethodStatus);
    else slot.answer(relayFailure(era, id, error));
  }
}

function nameOf(request: CallRequest): JsonObject {
  if (request.kind === 'call_tool') return { tool: request.name.slice(0, 128) };
  return { method: request.kind === 'relay' ? request.method.slice(0, 128) : 'resources/subscribe' };
}

/** From here on a joined answer costs more than one in parts. UTF-16 units. */
const longResult = 8 * 1024;

function give(era: Era, { id, slot }: CallInFlight, answer: ToolAnswer, request: CallRequest): void {
  if (answer.kind === 'upstream') {
    const reads = request.kind === 'relay' && request.method === 'resources/read';
    const result = reads ? era.results.relayedRead(answer.result) : era.results.relayed(answer.result);
    if (result.length >= longResult && slot.answerInParts !== undefined) slot.answerInParts(encodeResultParts(id, result));
    else slot.answer(encodeResult(id, result));
  } else if (answer.kind === 'upstream_error') {
    const { error, status } = era.relayedError(answer.error, request.kind === 'relay' && request.target.kind === 'method');
    slot.answer(encodeErrorText(id, error), status);
  } else {
    slot.answer(encodeResult(id, toolText(era, drawOutput(answer.output))));
  }
}

function toolText(era: Era, { text, isError }: ToolText): string {
  return era.results.toolText(text, isError);
}
