// Coalesces "the list changed": at most one listing runs and one waits, with a pause between them, however often an upstream says so.
// Knows nothing of what is listed.
import type { Clock } from '../../kernel/ports.ts';

export interface Relisting {
  /** The list is stale from now on. */
  request(): void;
  /** Resolves when a listing that began after the last request has ended, whatever its outcome; `undefined` when nothing is stale. */
  settled(): Promise<void> | undefined;
}

/** `run` never rejects. */
export function createRelisting(run: () => Promise<void>, clock: Clock, pauseMs = 250): Relisting {
  let current: Promise<void> | undefined;
  let following: Promise<void> | undefined;

  function begin(after: Promise<void>): Promise<void> {
    const listing = after.then(() => {
      // What waited is what runs now; requests from here on need one more.
      current = listing;
      following = undefined;
      return run();
    });
    void listing.then(() => {
      if (current === listing) current = undefined;
    });
    return listing;
  }

  const pause = (): Promise<void> => new Promise((resolve) => void clock.after(pauseMs, resolve));

  return {
    request() {
      if (following !== undefined) return;
      following = begin(current === undefined ? Promise.resolve() : current.then(pause));
    },
    settled: () => following ?? current,
  };
}
