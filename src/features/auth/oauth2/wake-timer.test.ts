// The timer of renewals, over weeks of a clock in the test's hand.
import { expect, test } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.ts';
import { createWakeTimer } from './wake-timer.ts';

const days = 24 * 3_600_000;

test('[OAUTH-2] a renewal that is weeks away comes once, at its time, and a later wish takes its place', () => {
  const clock = createFakeClock();
  let woken = 0;
  const timer = createWakeTimer(clock, () => (woken += 1));
  timer.set(30 * days);
  timer.set(40 * days);
  clock.advance(40 * days - 1);
  expect([woken, timer.leftMs(), clock.pending()]).toEqual([0, 1, 1]);
  clock.advance(1);
  expect([woken, timer.leftMs(), clock.pending()]).toEqual([1, undefined, 0]);
  timer.set(5);
  timer.clear();
  clock.advance(days);
  expect(woken).toBe(1);
});
