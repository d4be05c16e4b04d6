// `sallyport down`: stops the daemon of this home from anywhere, and returns once it is gone.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import { AppError } from '../../kernel/errors.ts';
import { socketOf } from '../config.ts';
import { answers } from '../doors.ts';
import { isAlive } from '../process-alive.ts';
import { runningDaemon } from '../run-file.ts';

const patienceMs = 30_000;

export function downCommand(home: string): Command {
  return {
    words: ['down'],
    summary: 'Stop the daemon and wait until it is gone.',
    description: 'Calls in flight get a moment to finish. When none is running there is nothing to do, and that is no error.',
    input: z.strictObject({}),
    positionals: [],
    signed: false,
    async run({ json }, cli) {
      const running = await runningDaemon(home);
      if (running === undefined) {
        cli.out(json ? JSON.stringify({ stopped: false }) : `No daemon is running for ${home}.`);
        return 0;
      }
      // Its own word comes first: a note on disk may be older than the process that now has the number.
      const { pid: named } = await cli.daemon.status().catch(() => ({ pid: undefined }));
      const pid = typeof named === 'number' ? named : running.pid;
      if (pid === undefined) {
        throw new AppError('unavailable', 'daemon.no_pid', 'a daemon is running, but it does not say which process it is', {
          hint: `Find who listens on ${socketOf(home)} and stop it.`,
        });
      }
      await stopAndWait(pid, socketOf(home));
      cli.out(json ? JSON.stringify({ stopped: true, pid }) : `The daemon (pid ${pid}) has stopped.`);
      return 0;
    },
  };
}

async function stopAndWait(pid: number, socket: string): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') {
      throw new AppError('denied', 'daemon.not_ours', `the daemon (pid ${pid}) cannot be stopped by this user`, { cause: thrown });
    }
  }
  const deadline = performance.now() + patienceMs;
  while (isAlive(pid) || (await answers(socket))) {
    if (performance.now() > deadline) {
      throw new AppError(
        'unavailable',
        'daemon.not_stopping',
        `the daemon (pid ${pid}) has not stopped within ${patienceMs / 1000} s`,
        {
          hint: `It may be finishing a call. If it hangs: kill -9 ${pid}. State and record survive that.`,
        },
      );
    }
    await delay(50);
  }
}
