// What every era answers alike: a page of the tools an agent sees, and a request that went wrong. Knows no transport.
import type { Dispatch } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/ports.ts';
import { encodeError, encodeResult, rpcCode, type RequestId } from '../../wire/jsonrpc.ts';
import type { CallHome } from './in-flight.ts';
import { toolPage } from './tool-pages.ts';

/** A JSON-RPC error in parts. */
export interface Fault {
  readonly code: number;
  readonly message: string;
}

/** What the client is told of it; whatever it could not have caused stays with the operator. */
export function faultOf(thrown: unknown, log: Log): Fault {
  const error = asAppError(thrown);
  if (error.code === 'wire.bad_params') return { code: rpcCode.invalidParams, message: error.message };
  log.error('a request failed unexpectedly', { code: error.code, error: error.message });
  return { code: rpcCode.internalError, message: 'Internal error. The log of the gateway says more.' };
}

/** The whole answer to a tools/list. */
export function answerList(
  { era, caller, scope }: Pick<CallHome<unknown>, 'era' | 'caller' | 'scope'>,
  id: RequestId,
  cursor: string | undefined,
  { dispatch, log }: { readonly dispatch: Dispatch; readonly log: Log },
): string {
  try {
    const { tools, nextCursor } = toolPage(dispatch.tools(caller, scope), cursor);
    return encodeResult(id, era.results.toolPage(tools, nextCursor));
  } catch (thrown) {
    const { code, message } = faultOf(thrown, log);
    return encodeError(id, code, message);
  }
}
