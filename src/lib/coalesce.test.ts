import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('callers during a run share the next one, and no two runs overlap', async () => {
  const finish: (() => void)[] = [];
  let runs = 0;
  let atOnce = 0;
  let most = 0;
  const call = coalesce(async () => {
    runs += 1;
    atOnce += 1;
    most = Math.max(most, atOnce);
    const run = runs;
    await new Promise<void>((resolve) => {
      finish.push(resolve);
    });
    atOnce -= 1;
    return run;
  });
  const first = call();
  const second = [call(), call(), call()];
  finish.shift()?.();
  expect(await first).toBe(1);
  const late = call();
  await expect.poll(() => finish.length).toBe(1);
  const third = call();
  finish.shift()?.();
  expect(await Promise.all([...second, late])).toEqual([2, 2, 2, 2]);
  await expect.poll(() => finish.length).toBe(1);
  finish.shift()?.();
  expect(await third).toBe(3);
  expect([runs, most]).toEqual([3, 1]);
});

test('a failed run fails its own callers only', async () => {
  let runs = 0;
  const call = coalesce(async () => {
    runs += 1;
    if (runs === 1) throw new Error('first');
    return runs;
  });
  const first = call();
  const second = call();
  await expect(first).rejects.toThrow('first');
  expect(await second).toBe(2);
});
