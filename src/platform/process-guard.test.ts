import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { silentLog } from '../../test/support/silent-log.ts';
import { createGuard } from './process-guard.ts';
import { signal, startTimeOf } from './process-table.ts';

const sleeper = (): number => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60000)'], { detached: true, stdio: 'ignore' });
  child.unref();
  return child.pid ?? 0;
};

async function until(what: () => boolean, ms = 4_000): Promise<void> {
  const end = performance.now() + ms;
  while (!what()) {
    if (performance.now() > end) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('[FLEET-5] a guard that is killed is replaced, remembers its groups, and spares those it was told to forget', async () => {
  const guard = createGuard(silentLog());
  const [watched, forgotten, never] = [sleeper(), sleeper(), sleeper()];
  guard.watch(watched);
  guard.watch(forgotten);
  const first = guard.pid ?? 0;
  signal(first, 'SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(startTimeOf(first)).toBeDefined();
  signal(first, 'SIGKILL');
  await until(() => guard.pid !== first && startTimeOf(guard.pid ?? 0) !== undefined);
  guard.forget(forgotten);
  guard.close();
  await until(() => startTimeOf(watched) === undefined);
  expect([forgotten, never].every((pid) => startTimeOf(pid) !== undefined)).toBe(true);
  for (const pid of [forgotten, never]) signal(pid, 'SIGKILL');
});
