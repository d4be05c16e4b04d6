// What every era answers alike: a page of what an agent sees, and a request that went wrong. Knows no transport.
import type { Dispatch, ListName } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/ports.ts';
import { encodeError, encodeResult, rpcCode, type RequestId } from '../../wire/jsonrpc.ts';
import type { CallHome } from './in-flight.ts';
import { listPage } from './list-pages.ts';

/** A JSON-RPC error in parts. */
export interface Fault {
  readonly code: number;
  readonly message: string;
  /** The HTTP status it has to come with, where one is laid down. */
  readonly status?: number;
  readonly data?: JsonObject;
}

/** What the client is told of it; whatever it could not have caused stays with the operator. */
export function faultOf(thrown: unknown, log: Log): Fault {
  const error = asAppError(thrown);
  if (error.code === 'wire.bad_params') return { code: rpcCode.invalidParams, message: error.message };
  if (error.code === 'wire.missing_capability')
    return { status: 400, code: rpcCode.missingCapability, message: error.message, data: error.data as JsonObject };
  log.error('a request failed unexpectedly', { code: error.code, error: error.message });
  return { code: rpcCode.internalError, message: 'Internal error. The log of the gateway says more.' };
}

/** The whole answer to a request for a list. */
export function answerList(
  { era, caller, scope }: Pick<CallHome<unknown>, 'era' | 'caller' | 'scope'>,
  id: RequestId,
  { list, cursor }: { readonly list: ListName; readonly cursor: string | undefined },
  { dispatch, log }: { readonly dispatch: Dispatch; readonly log: Log },
): string {
  try {
    const entries = list === 'tools' ? dispatch.tools(caller, scope) : dispatch.list(caller, scope, list);
    const page = listPage(entries, cursor);
    return encodeResult(id, era.results.page(list, page.entries, page.nextCursor));
  } catch (thrown) {
    const { code, message } = faultOf(thrown, log);
    return encodeError(id, code, message);
  }
}
