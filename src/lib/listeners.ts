// Who wants to be told of one thing.

export interface Listeners<T extends unknown[]> {
  /** What comes back ends it. */
  readonly add: (listener: (...what: T) => void) => () => void;
  readonly tell: (...what: T) => void;
}

export function createListeners<T extends unknown[]>(): Listeners<T> {
  const listeners = new Set<(...what: T) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell(...what) {
      for (const listener of listeners) listener(...what);
    },
  };
}
