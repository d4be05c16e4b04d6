// What was opened is closed in reverse, whatever happens on the way; used by a clean stop and by a start that fails half-way.

export interface Cleanup {
  add(step: () => Promise<unknown>): void;
  /** Every step runs once, also when another failed; the first failure is thrown at the end. */
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const steps: (() => Promise<unknown>)[] = [];
  return {
    add: (step) => void steps.push(step),
    async run() {
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        await step().catch((failure: unknown) => failures.push(failure));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
