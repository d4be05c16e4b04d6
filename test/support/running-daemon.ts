// The real program as a process in a home of its own, for end-to-end tests: started, driven over its socket, stopped or killed by pid,
// and everything gone afterwards. The operator is a key of the test, so that thousands of decisions need no passphrase.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { possessionInput } from '../../src/features/operator/model.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { createDaemonClient, type DaemonClient } from '../../src/platform/daemon-client.ts';
import { fixtureCommand } from './fixture-upstream.ts';
import { processesOf } from './processes.ts';
import type { Finished } from './run-program.ts';
import { createTestOperator, type TestOperator } from './test-operator.ts';

const main = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));
/** Long enough for a loaded machine; a daemon that is not up by then will not be. */
const patienceMs = 30_000;

export interface Doors {
  readonly agent_url: string;
  readonly human_url: string;
  readonly socket: string;
  readonly pid: number;
}

export interface RunningDaemon extends Doors {
  readonly child: ChildProcess;
  readonly line: DaemonClient;
  stderr(): string;
  /** SIGTERM; its exit code. */
  stop(): Promise<number | null>;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
}

export interface House {
  /** Everything of this house has this path in its environment or its command line. */
  readonly folder: string;
  readonly home: string;
  readonly operator: TestOperator;
  readonly passphraseFile: string;
  path(...parts: string[]): string;
  /** Starts the daemon and, the first time, seats the operator. Rejects with what it said when it ends before it is up. */
  up(environment?: Record<string, string>): Promise<RunningDaemon>;
  /** Starts it to see it end: exit code and words. */
  upAndEnd(environment?: Record<string, string>, args?: readonly string[]): Promise<Finished>;
  /** Starts it and kills it after so many milliseconds, wherever it is by then. */
  upAndKill(afterMs: number): Promise<void>;
  /** `sallyport …` as a shell of the same user, without any passphrase unless `environment` names its file; `input` is piped in. */
  shell(args: readonly string[], environment?: Record<string, string>, input?: string): Promise<Finished>;
  /** Pids of every process of this house that is alive. */
  processes(): number[];
}

export interface HouseOptions {
  readonly policies?: string;
  readonly settings?: string;
  /** `file`: the operator is made from the passphrase file, as people do it. Default `memory`. */
  readonly seat?: 'memory' | 'file';
}

export async function openHouse({ policies, settings, seat = 'memory' }: HouseOptions = {}): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'house-'));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, 'correct horse battery staple\n', { mode: 0o600 });
  chmodSync(passphraseFile, 0o600);
  if (policies !== undefined) writeFileSync(join(home, 'policies.yaml'), policies);
  if (settings !== undefined) writeFileSync(join(home, 'sallyport.yaml'), settings);
  const operator = createTestOperator();
  let seated = false;
  onTestFinished(async () => {
    for (const pid of processesOf(folder)) endProcess(pid);
    await until(() => processesOf(folder).length === 0, 'every process of the house is gone');
    rmSync(folder, { recursive: true, force: true });
  });

  function launch(args: readonly string[], environment: Record<string, string>, input?: string) {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      SALLYPORT_HOME: home,
      SALLYPORT_LOG_LEVEL: 'warn',
      ...environment,
    };
    const child = spawn(process.execPath, [main, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    // It may have ended before it read anything.
    child.stdin.on('error', () => undefined).end(input);
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (said[name] += chunk.toString()));
    const finished = new Promise<Finished>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, ...said }));
    });
    return { child, said, finished };
  }

  const upArgs = ['up', '--agent-port', '0', '--human-port', '0', '--json'];
  return {
    folder,
    home,
    operator,
    passphraseFile,
    path: (...parts) => join(home, ...parts),
    processes: () => processesOf(folder),
    async up(environment = {}) {
      const byFile: Record<string, string> = seat === 'file' ? { SALLYPORT_OPERATOR_PASSPHRASE_FILE: passphraseFile } : {};
      const { child, said, finished } = launch(upArgs, { ...byFile, ...environment });
      let ended: Finished | undefined;
      void finished.then((end) => (ended = end));
      await until(() => said.stdout.includes('\n') || ended !== undefined, 'the daemon is up', patienceMs);
      if (ended !== undefined) throw new Error(`the daemon ended with ${ended.code}: ${ended.stderr}`);
      const doors = JSON.parse(said.stdout.split('\n')[0] ?? '') as Doors;
      const line = createDaemonClient({ socketPath: doors.socket, home });
      const running: RunningDaemon = {
        ...doors,
        child,
        line,
        stderr: () => said.stderr,
        async stop() {
          child.kill('SIGTERM');
          return (await finished).code;
        },
        async kill() {
          child.kill('SIGKILL');
          await finished;
        },
      };
      if (!seated && seat === 'memory') await takeSeat(line, operator);
      if (!seated) await until(() => firstPolicySeen(line), 'the first policy is adopted or refused');
      seated = true;
      return running;
    },
    async upAndEnd(environment = {}, args = upArgs) {
      const { child, finished } = launch(args, environment);
      const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      const end = await finished;
      clearTimeout(impatience);
      return end;
    },
    async upAndKill(afterMs) {
      const { child, finished } = launch(upArgs, {});
      await delay(afterMs);
      child.kill('SIGKILL');
      await finished;
    },
    shell: (args, environment = {}, input) => launch(args, environment, input).finished,
  };
}

async function takeSeat(line: DaemonClient, operator: TestOperator): Promise<void> {
  const { installation } = (await line.operate('operator.status', {})) as { installation: string };
  const possession = encodeBase64url(operator.signBytes(possessionInput(installation, operator.publicKey)));
  await line.operate('operator.create', { publicKey: operator.publicKey, possession });
}

async function firstPolicySeen(line: DaemonClient): Promise<boolean> {
  const { state } = (await line.operate('policy.check', {})) as { state: string };
  if (state !== 'none') return true;
  const { records } = (await line.operate('audit.query', { event: 'policy.refused' })) as { records: unknown[] };
  return records.length > 0;
}

/** Prepares, signs and runs a decision of the operator. */
export async function decide(house: House, daemon: RunningDaemon, operation: string, input: object): Promise<unknown> {
  const statement = await daemon.line.prepare(operation, input);
  return daemon.line.operate(operation, input, house.operator.prove(statement));
}

/** The token of a new agent. */
export async function addAgent(house: House, daemon: RunningDaemon, name: string): Promise<string> {
  return ((await decide(house, daemon, 'agents.add', { name })) as { token: string }).token;
}

/** A fixture upstream in one of its characters, accepted and tried. */
export async function addUpstream(house: House, daemon: RunningDaemon, name: string, ...behaviour: [string, ...string[]]) {
  return decide(house, daemon, 'fleet.add', { name, run: fixtureCommand(...behaviour) });
}

export interface Recorded {
  readonly id: string;
  readonly event: string;
  readonly actor: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Records of one event, newest first as `audit query` gives them. */
export async function recorded(daemon: RunningDaemon, event: string, limit = 200): Promise<Recorded[]> {
  const { records } = (await daemon.line.operate('audit.query', { event, limit })) as { records: Recorded[] };
  return records;
}

export async function until(holds: () => boolean | Promise<boolean>, what: string, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`it did not come true within ${withinMs} ms that ${what}`);
    await delay(20);
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}
