// The Spawner: children in sessions of their own, tied to the life of this process three times over (parent-death signal, guard, sweep at
// boot), with their output framed and always drained. Knows lines, not what they say.
import { execFile, spawn as spawnProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import type { Child, ChildSpec, Log, Spawner } from '../kernel/ports.ts';
import { createChild } from './process-child.ts';
import { createGuard } from './process-guard.ts';
import { createProcessRecords } from './process-records.ts';
import { findProgram } from './program-path.ts';

const closeGraceMs = 2_000;

export interface SpawnerDeps {
  /** Absolute path of the home's `run/`. */
  readonly runFolder: string;
  readonly log: Log;
  /** Longest line of stdout that is kept, in bytes; 32 MiB unless said otherwise. */
  readonly maxLineBytes?: number;
}

export interface OwnedSpawner extends Spawner {
  /** Ends what daemons that died left behind; call once, after this home is known to be ours. Returns the number of processes ended. */
  sweep(): Promise<number>;
  /** Ends every child; afterwards nothing can be spawned. */
  close(): Promise<void>;
}

export async function createSpawner({ runFolder, log, maxLineBytes = 32 * 1024 * 1024 }: SpawnerDeps): Promise<OwnedSpawner> {
  const records = createProcessRecords(join(runFolder, 'children'));
  const guard = createGuard(log);
  const setpriv = await findSetpriv();
  const children = new Set<Child>();
  let closed = false;

  /** The number is a constant of prctl(2) by name; the signal survives the exec into the program. */
  function commandLine(program: string, args: readonly string[]): readonly [string, readonly string[]] {
    return setpriv === undefined ? [program, args] : [setpriv, ['--pdeathsig', 'KILL', '--', program, ...args]];
  }

  async function spawn(spec: ChildSpec): Promise<Child> {
    if (closed) throw new AppError('unavailable', 'process.closed', 'The daemon is shutting down; nothing is started any more.');
    const program = await findProgram(spec.command, { cwd: spec.cwd, path: spec.env['PATH'] });
    if (program === undefined) throw noProgram(spec);
    if (spec.cwd !== undefined && !(await isFolder(spec.cwd))) throw noFolder(spec.cwd);
    const [file, args] = commandLine(program, spec.args);
    const started = await launched(
      spawnProcess(file, args, { cwd: spec.cwd, env: { ...spec.env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }),
      spec,
    );
    guard.watch(started.pid);
    records.add(started.pid);
    const child = createChild(started.process, started.pid, {
      maxLineBytes,
      onGone: () => {
        guard.forget(started.pid);
        records.remove(started.pid);
        children.delete(child);
        log.debug('child is gone', { pid: started.pid });
      },
    });
    children.add(child);
    log.debug('child started', { pid: started.pid, program });
    return child;
  }

  return {
    spawn,
    async sweep() {
      const ended = records.sweep();
      if (ended > 0) log.warn('ended processes that an earlier daemon left behind', { count: ended });
      return ended;
    },
    async close() {
      closed = true;
      await Promise.all([...children].map((child) => child.stop(closeGraceMs)));
      guard.close();
    },
  };
}

interface Launched {
  readonly process: ChildProcessWithoutNullStreams;
  readonly pid: number;
}

function launched(process: ChildProcessWithoutNullStreams, spec: ChildSpec): Promise<Launched> {
  return new Promise((resolve, reject) => {
    process.once('error', (error: NodeJS.ErrnoException) => reject(spawnFailed(spec, error.code ?? error.message, error)));
    const { pid } = process;
    if (pid !== undefined) resolve({ process, pid });
  });
}

/** util-linux only; anything odd about it means doing without. */
async function findSetpriv(): Promise<string | undefined> {
  const file = await findProgram('setpriv', { path: '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin' });
  if (file === undefined) return undefined;
  return new Promise((resolve) => {
    execFile(file, ['--pdeathsig', 'KILL', '--', '/bin/sh', '-c', 'exit 0'], { timeout: 5_000 }, (error) =>
      resolve(error === null ? file : undefined),
    );
  });
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function noProgram({ command }: ChildSpec): AppError {
  return new AppError('unavailable', 'process.spawn_failed', `There is no program '${command}' to run.`, {
    hint: command.includes('/')
      ? 'Write the absolute path of an executable file.'
      : `Install it, or write its absolute path: '${command}' is not on the PATH the daemon was started with.`,
    data: { sent: false },
  });
}

function noFolder(cwd: string): AppError {
  return new AppError('unavailable', 'process.spawn_failed', `The working directory '${cwd}' does not exist.`, {
    hint: 'Create it or change cwd.',
    data: { sent: false },
  });
}

function spawnFailed({ command }: ChildSpec, reason: string, cause: Error): AppError {
  const hint =
    reason === 'EAGAIN' || reason === 'EMFILE'
      ? 'The system is out of processes or file handles; free some or raise the limit.'
      : 'Run it by hand to see why.';
  return new AppError('unavailable', 'process.spawn_failed', `'${command}' cannot be started: ${reason}.`, {
    hint,
    data: { sent: false },
    cause,
  });
}
