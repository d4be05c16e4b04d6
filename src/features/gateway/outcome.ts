// How a call ended, as its second record says. `refused`: nothing was sent, so nothing can have happened. `unknown`: it was sent and
// nobody can say what became of it.
import type { AppError } from '../../kernel/errors.ts';
import type { Outcome } from '../audit/model.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';

export function outcomeOf(answer: UpstreamAnswer): Outcome {
  return answer.kind === 'result' && !answer.isError ? 'ok' : 'error';
}

/** An upstream that died or broke the protocol with the call in flight leaves the effect unknown. */
export function outcomeOfError({ code, kind, data }: AppError): Outcome {
  if (code === 'fleet.cancelled') return 'cancelled';
  if (kind === 'denied' || data?.['sent'] === false) return 'refused';
  if (code === 'fleet.timeout') return 'timeout';
  if (code === 'fleet.exited' || code === 'fleet.failed' || code === 'fleet.protocol') return 'unknown';
  return 'error';
}
