// The tools/call requests in flight: into the gateway with progress and cancellation, and back as exactly one answer each. What an
// upstream answered goes out as the text it is. Knows no transport and decides nothing.
import type { Dispatch, ToolAnswer } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/ports.ts';
import type { AgentRequest, Era } from '../../wire/era.ts';
import { encodeError, encodeErrorText, encodeResult, rpcCode, type RequestId } from '../../wire/jsonrpc.ts';
import { drawFailure, drawOutput, type ToolText } from './gate-convention.ts';
import type { CallInFlight, ReplySlot, Session } from './sessions.ts';

export type CallRequest = Extract<AgentRequest, { kind: 'call_tool' }>;

export interface Calls {
  start(session: Session, id: RequestId, request: CallRequest, slot: ReplySlot): void;
  /** The client took it back: no answer, and the upstream is told. An id that is not in flight is nothing. */
  cancel(session: Session, id: RequestId): void;
  /** Answers everything the session has in flight with this error and stops it upstream. */
  failAll(session: Session, message: string): void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export function createCalls(deps: { readonly dispatch: Dispatch; readonly log: Log; readonly maxPerSession: number }): Calls {
  const { dispatch, log, maxPerSession } = deps;
  const waiting: (() => void)[] = [];
  let inFlight = 0;

  /** True for the one who may now give the answer, or give it up. */
  function take({ calls }: Session, id: RequestId, call: CallInFlight): boolean {
    if (calls.get(id) !== call) return false;
    calls.delete(id);
    inFlight -= 1;
    if (inFlight === 0) for (const wake of waiting.splice(0)) wake();
    return true;
  }

  function refusal(session: Session, id: RequestId): string | undefined {
    if (session.calls.has(id)) {
      return encodeError(id, rpcCode.invalidRequest, 'A request with this id is still being answered. Use every id once.');
    }
    if (session.calls.size < maxPerSession) return undefined;
    return encodeError(
      id,
      rpcCode.serverError,
      `This session has ${maxPerSession} calls in flight already. Wait for some of them.`,
    );
  }

  return {
    start(session, id, { name, args, rest, progressToken }, slot) {
      const refused = refusal(session, id);
      if (refused !== undefined) {
        slot.answer(refused);
        return;
      }
      const { era, caller, scope } = session;
      const call: CallInFlight = { abort: new AbortController(), slot };
      session.calls.set(id, call);
      inFlight += 1;
      const onProgress =
        progressToken === undefined
          ? undefined
          : (note: JsonObject): void => {
              if (session.calls.get(id) === call) slot.notice(era.notifications.progress(progressToken, note));
            };
      dispatch.callTool(caller, { name, scope, args, rest, signal: call.abort.signal, onProgress }).then(
        (answer) => {
          if (take(session, id, call)) slot.answer(encodeAnswer(era, id, answer));
        },
        (thrown: unknown) => {
          if (take(session, id, call)) slot.answer(encodeResult(id, toolText(era, failure(thrown, name))));
        },
      );
    },
    cancel(session, id) {
      const call = session.calls.get(id);
      if (call === undefined || !take(session, id, call)) return;
      call.slot.abandon();
      call.abort.abort();
    },
    failAll(session, message) {
      for (const [id, call] of session.calls) {
        if (!take(session, id, call)) continue;
        call.slot.answer(encodeError(id, rpcCode.sessionNotFound, message));
        call.abort.abort();
      }
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  };

  function failure(thrown: unknown, tool: string): ToolText {
    const error = asAppError(thrown);
    if (error.kind === 'internal') {
      log.error('a tool call failed unexpectedly', { tool: tool.slice(0, 128), code: error.code, error: error.message });
    }
    return drawFailure(error, tool);
  }
}

function encodeAnswer(era: Era, id: RequestId, answer: ToolAnswer): string {
  if (answer.kind === 'upstream') return encodeResult(id, answer.result);
  if (answer.kind === 'upstream_error') return encodeErrorText(id, answer.error);
  return encodeResult(id, toolText(era, drawOutput(answer.output)));
}

function toolText(era: Era, { text, isError }: ToolText): string {
  return era.results.toolText(text, isError);
}
