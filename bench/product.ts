// The product as anyone runs it, from bin/: a home of its own, the operator, the daemon. Knows nothing of what is measured with it.
import type { ChildProcess } from 'node:child_process';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { firstLine, start } from './children.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
export const program = join(root, 'bin', 'sallyport.js');

// Result handles are off in the cells (they would shorten large answers), and 32 first calls at once are no misuse here.
const policy = `version: 1
limits:
  max_inline_bytes: 100000000
  rate_limit: 10000/m
agents:
  bench:
    default_ttl: 1h
    capabilities:
      - match: "echo:call:*"
        effect: allow
        redact: [pii]
        annotations: { readOnlyHint: true }
      - match: "echo:call:write"
        effect: allow
        redact: [pii]
`;

export interface Home {
  readonly env: NodeJS.ProcessEnv;
  remove(): void;
}

export interface Daemon {
  readonly child: ChildProcess;
  readonly agentUrl: string;
  readonly pid: number;
}

/** Throws when the sources do not build; does nothing when `dist/` is newer than they are. */
export function build(): void {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.js'), '--if-stale'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed, so there is no product to measure');
}

/** A home with the policy of the benchmark; the first `up` in it creates the operator. Removed with this process at the latest. */
export function makeHome(): Home {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  const home = join(folder, 'home');
  const passphrase = join(folder, 'passphrase');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(passphrase, 'correct horse battery staple bench\n', { mode: 0o600 });
  writeFileSync(join(home, 'policies.yaml'), policy, { mode: 0o600 });
  const erase = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', erase);
  return {
    env: { ...process.env, SALLYPORT_HOME: home, SALLYPORT_OPERATOR_PASSPHRASE_FILE: passphrase },
    remove: () => {
      process.off('exit', erase);
      erase();
    },
  };
}

/** The daemon in the foreground on free ports, once it has said that it is ready. */
export async function startDaemon({ env }: Home): Promise<Daemon> {
  const args = [program, 'up', '--agent-port', '0', '--human-port', '0', '--json'];
  const child = start(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const up = await firstLine(child, 'sallyport up');
  return { child, agentUrl: String(up['agent_url']), pid: Number(up['pid']) };
}

/** One command with `--json`; rejects with what it said when it fails. */
export async function run({ env }: Home, ...args: string[]): Promise<Record<string, unknown>> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env, timeout: 30_000 });
    return JSON.parse(stdout) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`sallyport ${args.slice(0, 2).join(' ')} failed: ${String(error)}`, { cause: error });
  }
}
