// How a failure leaves the program: one line, a hint line, an exit code. With --json one line of JSON, on standard error too,
// so that standard output only ever carries output.
import { printable, printableJson } from '../../lib/printable.ts';
import type { AppError } from '../../kernel/errors.ts';
import { misuseCode } from './misuse.ts';

/** 2: the command line was wrong and nothing was tried. 1: it was tried or refused. */
export function exitCodeOf(error: AppError): 1 | 2 {
  return error.code === misuseCode ? 2 : 1;
}

export function drawFailure(error: AppError, json: boolean): string {
  const message = error.kind === 'internal' ? 'something unexpected went wrong inside' : error.message;
  const hint = error.kind === 'internal' ? 'The log of the daemon has the details.' : error.hint;
  const retryAfterS = error.retryAfterMs === undefined ? undefined : Math.ceil(error.retryAfterMs / 1000);
  if (json) {
    return printableJson({ error: { kind: error.kind, code: error.code, message, hint, retry_after_s: retryAfterS } });
  }
  const lines = [`sallyport: ${printable(message)}`];
  if (hint !== undefined) lines.push(hint.split('\n').map(printable).join('\n'));
  else if (retryAfterS !== undefined) lines.push(`Try again in ${retryAfterS} s.`);
  return lines.join('\n');
}
