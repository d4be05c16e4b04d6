// Many callers, one run: who arrives while a run is under way shares the next one. Knows nothing of what is run.

/** Each call resolves with a run that began after the call was made; at most one runs at a time. */
export function coalesce<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function begin(): Promise<T> {
    running = (async () => {
      try {
        return await run();
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return begin();
    const current = running;
    next = (async () => {
      await current.catch(() => undefined);
      next = undefined;
      return begin();
    })();
    return next;
  };
}
