// Ties what a decision does to what was shown for it: the gateway computes `shown` and runs with one and the same input, so what was
// computed then is what is done, even if the world changed in between. Knows nothing of what is decided.
import { AppError } from '../../kernel/errors.ts';

export interface ShownMemory<Input extends object, Facts> {
  keep(input: Input, facts: Facts): Facts;
  /** What was last shown for this very input. Throws `fleet.changed` when nothing was. */
  recall(input: Input): Facts;
}

export function createShownMemory<Input extends object, Facts>(): ShownMemory<Input, Facts> {
  const kept = new WeakMap<Input, Facts>();
  return {
    keep(input, facts) {
      kept.set(input, facts);
      return facts;
    },
    recall(input) {
      const facts = kept.get(input);
      if (facts === undefined)
        throw new AppError('conflict', 'fleet.changed', 'Nothing was shown for this decision.', { hint: 'Decide anew.' });
      return facts;
    },
  };
}
