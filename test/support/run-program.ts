// Runs a program of ours in a home of its own, as a shell would: streams, exit code, signals, and a terminal where one is needed.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly finished: Promise<Finished>;
  /** Resolves with everything printed so far once it holds `text`; rejects when the program ends before. */
  until(text: string, stream?: 'stdout' | 'stderr'): Promise<string>;
  write(text: string): void;
}

export interface Shell {
  readonly home: string;
  start(args: readonly string[], environment?: Record<string, string>): Running;
  run(args: readonly string[], environment?: Record<string, string>): Promise<Finished>;
  /** The same at a pseudo-terminal (util-linux `script`); both streams arrive as stdout. */
  startAtTerminal(args: readonly string[], environment?: Record<string, string>): Running;
  /** Kills whatever still runs and removes the home. */
  close(): Promise<void>;
}

/** `program`: executable and leading arguments, e.g. `[process.execPath, 'src/app/main.ts']`. */
export async function openShell(program: readonly [string, ...string[]]): Promise<Shell> {
  const home = await mkdtemp(join(tmpdir(), 'home-'));
  const started: Running[] = [];
  const environmentWith = (extra: Record<string, string>): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SALLYPORT_HOME: join(home, '.sallyport'),
    ...extra,
  });

  function launch(command: string, args: readonly string[], extra: Record<string, string>): Running {
    const child = spawn(command, args, { env: environmentWith(extra), stdio: ['pipe', 'pipe', 'pipe'] });
    const seen = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (seen[name] += chunk.toString()));
    child.stdin.on('error', () => undefined);
    const finished = new Promise<Finished>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, ...seen }));
    });
    const running: Running = {
      child,
      pid: child.pid ?? 0,
      finished,
      until: (text, stream = 'stdout') =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            if (!seen[stream].includes(text)) return;
            child[stream].off('data', look);
            resolve(seen[stream]);
          };
          child[stream].on('data', look);
          finished.then((end) => reject(new Error(`ended before '${text}': ${JSON.stringify(end)}`)), reject);
          look();
        }),
      write: (text) => void child.stdin.write(text),
    };
    started.push(running);
    return running;
  }

  const [command, ...leading] = program;
  const shell: Shell = {
    home: join(home, '.sallyport'),
    start: (args, extra = {}) => launch(command, [...leading, ...args], extra),
    async run(args, extra = {}) {
      const running = shell.start(args, extra);
      running.child.stdin?.end();
      return running.finished;
    },
    startAtTerminal(args, extra = {}) {
      const line = `exec ${[command, ...leading, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}`;
      return launch('script', ['-qfec', line, '/dev/null'], { TERM: 'dumb', SHELL: '/bin/sh', ...extra });
    },
    async close() {
      for (const { child } of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await Promise.all(started.map(({ finished }) => finished.catch(() => undefined)));
      await rm(home, { recursive: true, force: true });
    },
  };
  return shell;
}
