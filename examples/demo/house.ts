// A throw-away installation for the demo: its home, the daemon as a child, and the command line as a person would use it.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/sallyport.js', import.meta.url));

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface House {
  readonly folder: string;
  readonly scratch: string;
  readonly home: string;
  readonly agentUrl: string;
  readonly socket: string;
  readonly pid: number;
  /** Runs `sallyport …` as the operator, who has the passphrase. */
  operator(...args: string[]): Promise<Said>;
  /** Runs `sallyport …` as a shell of the same user that has no passphrase. */
  stranger(...args: string[]): Promise<Said>;
  close(): Promise<number>;
}

function run(environment: NodeJS.ProcessEnv, args: readonly string[]): Promise<Said> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env: environment, maxBuffer: 32 << 20 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr });
    });
  });
}

export async function openHouse(policies: string): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-demo-'));
  const [home, scratch] = [join(folder, 'home'), join(folder, 'scratch')];
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(scratch);
  writeFileSync(join(home, 'policies.yaml'), policies);
  const passphrase = join(folder, 'passphrase');
  writeFileSync(passphrase, `${randomBytes(18).toString('base64url')}\n`);
  chmodSync(passphrase, 0o600);

  const { SALLYPORT_OPERATOR_PASSPHRASE_FILE: _, ...inherited } = process.env;
  const bare = { ...inherited, SALLYPORT_HOME: home };
  const trusted = { ...bare, SALLYPORT_OPERATOR_PASSPHRASE_FILE: passphrase };
  const daemon = spawn(process.execPath, [program, 'up', '--agent-port', '0', '--human-port', '0', '--json'], {
    env: { ...trusted, SALLYPORT_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const doors = await firstLine(daemon);
  return {
    folder,
    scratch,
    home,
    agentUrl: doors.agent_url,
    socket: doors.socket,
    pid: doors.pid,
    operator: (...args) => run(trusted, args),
    stranger: (...args) => run(bare, args),
    async close() {
      const exited = new Promise<number>((resolve) => daemon.once('exit', (code) => resolve(code ?? 1)));
      daemon.kill('SIGTERM');
      const code = await exited;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

interface Doors {
  readonly agent_url: string;
  readonly human_url: string;
  readonly socket: string;
  readonly pid: number;
}

async function firstLine(daemon: ChildProcess): Promise<Doors> {
  if (daemon.stdout === null) throw new Error('the daemon has no output');
  for await (const line of createInterface({ input: daemon.stdout })) return JSON.parse(line) as Doors;
  throw new Error('the daemon ended before it said where it listens');
}
