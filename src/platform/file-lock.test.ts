import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { lockFile, lockHome } from './file-lock.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Another process that tries to take the lock, and what it said. */
async function contender(path: string): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../test/fixtures/lock-holder.ts', import.meta.url)), path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: said.toString().trim() };
}

test('[STORE-3] a home has one daemon: the second is refused and told the pid of the first', async () => {
  const run = join(newFolder(), 'run');
  const lock = lockHome(run);
  expect(() => lockHome(run)).toThrow(
    expect.objectContaining({
      kind: 'conflict',
      code: 'platform.locked',
      message: `another daemon (pid ${process.pid}) already runs on the home ${dirname(run)}`,
      hint: expect.stringContaining('sallyport down') as string,
    }),
  );
  const { said } = await contender(join(run, 'daemon.lock'));
  expect(said).toBe(`platform.locked another daemon (pid ${process.pid}) already runs on the test`);
  await lock.release();
  await lock.release();
  await lockHome(run).release();
});

test('[STORE-3] the lock of a killed process is free at once, whatever it left lying about', async () => {
  const path = join(newFolder(), 'daemon.lock');
  const { child, said } = await contender(path);
  expect(said).toBe('held');
  expect(() => lockFile(path, 'the test')).toThrow(
    expect.objectContaining({ code: 'platform.locked', message: expect.stringContaining(`pid ${child.pid}`) as string }),
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  await lockFile(path, 'the test').release();
});

test('the folder and the lock are private', async () => {
  const run = join(newFolder(), 'run');
  const lock = lockHome(run);
  expect(statSync(run).mode & 0o777).toBe(0o700);
  expect(statSync(join(run, 'daemon.lock')).mode & 0o777).toBe(0o600);
  expect(statSync(join(run, 'daemon.lock.pid')).mode & 0o777).toBe(0o600);
  await lock.release();
});

test('a lock that cannot be taken for another reason says which file and why', () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'run'), 'a file where the folder should be');
  expect(() => lockHome(join(folder, 'run'))).toThrow(
    expect.objectContaining({ code: 'platform.lock_failed', message: expect.stringContaining('daemon.lock') as string }),
  );
});
