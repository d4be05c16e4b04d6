// Starts members without a call asking for it: a few at a time when they come, and whoever is down once in a while. Knows no reason.
import type { Clock } from '../../kernel/ports.ts';
import type { Supervised } from './supervised.ts';

const roundMs = 30_000;
/** Starting a server is the heaviest thing a laptop does all day. */
const atOnce = 4;

export interface Rounds {
  wake(members: readonly Supervised[]): void;
  /** Resolves when everything that was woken has been tried. */
  settled(): Promise<void>;
  stop(): void;
}

export function startRounds(clock: Clock, everyone: () => readonly Supervised[]): Rounds {
  let queue: Supervised[] = [];
  let working = 0;
  let waiting: (() => void)[] = [];
  let stopTimer = clock.after(roundMs, round);
  let stopped = false;

  function round(): void {
    wake(everyone());
    stopTimer = clock.after(roundMs, round);
  }

  function wake(members: readonly Supervised[]): void {
    if (stopped) return;
    queue.push(...members.filter((member) => !queue.includes(member)));
    while (working < atOnce && queue.length > 0) {
      working += 1;
      void work();
    }
  }

  async function work(): Promise<void> {
    for (let member = queue.shift(); member !== undefined; member = queue.shift()) await member.wake();
    working -= 1;
    if (working > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  return {
    wake,
    settled: () => (working === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    stop() {
      stopped = true;
      queue = [];
      stopTimer();
    },
  };
}
