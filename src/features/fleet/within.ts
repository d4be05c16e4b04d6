// Waits for shared work with a deadline and a signal of one's own; the work goes on for the others. Knows nothing of the work.
import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/ports.ts';

export interface Patience {
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** One sentence for the time-out. */
  readonly what: string;
}

/** Rejects with `fleet.timeout` or `fleet.cancelled`, both with `data.sent: false`: whoever waits here has sent nothing yet. */
export function within<T>(work: Promise<T>, { clock, deadline, signal, what }: Patience): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (error: AppError): void => {
      tidy();
      reject(error);
    };
    const abort = (): void =>
      leave(new AppError('unavailable', 'fleet.cancelled', 'The call was cancelled by its caller.', { data: { sent: false } }));
    const stopTimer = clock.after(Math.max(0, deadline - clock.monotonic()), () =>
      leave(
        new AppError('unavailable', 'fleet.timeout', what, {
          hint: 'Nothing was sent; the same call may be made again.',
          data: { sent: false },
        }),
      ),
    );
    const tidy = (): void => {
      stopTimer();
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });
    work.then(
      (value) => {
        tidy();
        resolve(value);
      },
      (error: unknown) => {
        tidy();
        reject(error);
      },
    );
    if (signal.aborted) abort();
  });
}
