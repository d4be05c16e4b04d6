// When a daemon in the foreground should stop: SIGTERM, Ctrl-C, a closed terminal, or the death of the launcher that started it.

export interface StopSignal {
  /** Resolves once, with what asked for the stop. */
  readonly asked: Promise<string>;
  readonly isAsked: () => boolean;
}

/** Listens from now on; further signals change nothing, so that a stop in progress is never cut short by an impatient second one. */
export function listenForStop(): StopSignal {
  let asked = false;
  const promise = new Promise<string>((resolve) => {
    const stop = (reason: string) => (): void => {
      asked = true;
      resolve(reason);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop(signal));
    if (process.channel !== undefined) {
      process.on('disconnect', stop('the launcher is gone'));
      // The channel is there to be closed; by itself it must not keep the process alive.
      process.channel.unref();
    }
  });
  return { asked: promise, isAsked: () => asked };
}
