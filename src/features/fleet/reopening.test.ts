import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createReopening } from './reopening.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('[TWOWAY-28] what was lost is opened once for all who listen, ever more patiently, and only as long as somebody does', async () => {
  const clock = createFakeClock();
  const tries: number[] = [];
  let listening = true;
  let failing = true;
  const reopening = createReopening({
    clock,
    wanted: () => listening,
    reopen() {
      tries.push(clock.monotonic());
      return failing ? Promise.reject(new Error('down')) : Promise.resolve();
    },
  });
  const from = clock.monotonic();
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
  };
  reopening.lost('a');
  reopening.lost('a');
  for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) await pass(ms);
  expect(tries.map((at) => at - from)).toEqual([1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000]);
  failing = false;
  await pass(60_000);
  expect(clock.pending()).toBe(0);
  listening = false;
  reopening.lost('a');
  listening = true;
  reopening.lost('b');
  listening = false;
  await pass(60_000);
  expect(tries).toHaveLength(9);
  listening = true;
  reopening.lost('c');
  reopening.stop();
  expect(clock.pending()).toBe(0);
});
