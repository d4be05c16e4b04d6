// A refused request that is no tool call, as a JSON-RPC error: the words and the next step a refused call has, in `data`. The code says
// what the era says of it. Knows no transport.
import type { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Era } from '../../wire/era.ts';
import { encodeError, rpcCode, type RequestId } from '../../wire/jsonrpc.ts';
import { drawingOf } from './gate-failures.ts';

export function relayFailure(era: Era, id: RequestId, error: AppError): string {
  if (error.code === 'gateway.unknown_resource') {
    return encodeError(id, era.codes.noResource, error.message, error.data as JsonObject | undefined);
  }
  const drawing = drawingOf(error);
  if (drawing === 'hidden') return encodeError(id, rpcCode.internalError, 'Internal error. The log of the gateway says more.');
  if (drawing === 'misuse') return encodeError(id, rpcCode.invalidParams, hinted(error));
  const { retryAfterMs, hint = drawing.step } = error;
  const data: Readonly<Record<string, Json>> = {
    kind: drawing.kind,
    ...(retryAfterMs === undefined ? {} : { retry_after_s: Math.max(1, Math.ceil(retryAfterMs / 1_000)) }),
    next_action: drawing.next,
    next_step: hint,
  };
  return encodeError(id, era.codes.refused, error.message, data);
}

function hinted({ message, hint }: AppError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}
