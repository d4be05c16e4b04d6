// Turns in order of arrival: one holder at a time. Knows nothing of what is done in a turn.

/** Takes the next turn; resolves to the function that gives it back (safe to call twice). */
export type Turns = () => Promise<() => void>;

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    let giveBack = (): void => {};
    last = new Promise((resolve) => {
      giveBack = resolve;
    });
    await before;
    return giveBack;
  };
}
