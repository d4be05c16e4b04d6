// The product as anyone runs it: daemon from bin/, operator, token, policy with redaction, pins, grants and the synced record.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Arm } from '../arm.ts';
import { firstLine, start, stop, upstreamCommand } from '../children.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'bin', 'sallyport.js');

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

function build(): void {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.js'), '--if-stale'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed, so there is no product to measure');
}

function makeHome(): { home: string; env: NodeJS.ProcessEnv } {
  const home = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  mkdirSync(join(home, 'home'), { mode: 0o700 });
  const passphrase = join(home, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple bench\n', { mode: 0o600 });
  writeFileSync(join(home, 'home', 'policies.yaml'), policy, { mode: 0o600 });
  return { home, env: { ...process.env, SALLYPORT_HOME: join(home, 'home'), SALLYPORT_OPERATOR_PASSPHRASE_FILE: passphrase } };
}

function command(env: NodeJS.ProcessEnv, ...args: string[]): Record<string, unknown> {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8', timeout: 30_000 });
  if (status !== 0) throw new Error(`sallyport ${args.slice(0, 2).join(' ')} failed: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

export const sallyport: Arm = {
  name: 'sallyport',
  tools: ['read', 'write'],
  start: async () => {
    build();
    const { home, env } = makeHome();
    const daemon = start(process.execPath, [program, 'up', '--agent-port', '0', '--human-port', '0', '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const remove = (): void => rmSync(home, { recursive: true, force: true });
    process.once('exit', remove);
    try {
      const up = await firstLine(daemon, 'sallyport up');
      const { token } = command(env, 'agent', 'add', 'bench', '--json');
      command(env, 'upstream', 'add', 'echo', '--json', '--', ...upstreamCommand);
      return {
        target: {
          kind: 'http',
          url: String(up['agent_url']),
          token: String(token),
          tools: { read: 'echo__read', write: 'echo__write' },
        },
        pid: Number(up['pid']),
        stop: () => stop(daemon).finally(remove),
      };
    } catch (error) {
      await stop(daemon).finally(remove);
      throw error;
    }
  },
};
