// The wait of one of several for work they share: whoever leaves stops waiting, and the work goes on for the others.
import { AppError } from '../../kernel/errors.ts';

/** Rejects with `fleet.cancelled` when `signal` aborts first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(new AppError('unavailable', 'fleet.cancelled', 'It was cancelled.', { data: { sent: false } }));
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
