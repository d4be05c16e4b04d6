import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createClock } from './clock.ts';

test('a task runs once, not before its time, and not at all when cancelled', async () => {
  const clock = createClock();
  const started = clock.monotonic();
  let cancelled = false;
  const cancel = clock.after(1, () => (cancelled = true));
  cancel();
  await new Promise<void>((resolve) => clock.after(20, resolve));
  expect(clock.monotonic() - started).toBeGreaterThanOrEqual(20);
  expect(cancelled).toBe(false);
});

test('a delay longer than a timer can hold does not fire at once', async () => {
  const clock = createClock();
  let fired = false;
  const cancel = clock.after(90 * 24 * 3_600_000, () => (fired = true));
  await new Promise<void>((resolve) => clock.after(20, resolve));
  cancel();
  expect(fired).toBe(false);
});

test('a waiting task keeps no process alive', () => {
  const clock = fileURLToPath(new URL('clock.ts', import.meta.url));
  const program = `import { createClock } from ${JSON.stringify(clock)}; createClock().after(60_000, () => {});`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 10_000 });
  expect(status).toBe(0);
});
