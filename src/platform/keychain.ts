// The vault's start key in the keychain of the user: Secret Service on Linux (secret-tool), the login keychain on macOS (security). Any
// program of the same user may ask it, so it may open the vault and never decides anything. Secrets go over pipes, never through argv.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import type { StartKey } from '../kernel/ports.ts';

interface KeychainDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly system?: NodeJS.Platform;
  /** A keychain that is locked asks its user in a window; a machine where nobody sits must not wait for that. */
  readonly patienceMs?: number;
}

interface Answer {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface Tool {
  /** `undefined`: no such entry. */
  find(name: string): Promise<Buffer | undefined>;
  put(name: string, secret: string): Promise<void>;
  clear(name: string): Promise<void>;
}

const mostBytes = 16_384;
const hint = 'Choose another slot: sallyport vault slot add passphrase, or leave the key file in place.';

function refused(why: string): AppError {
  return new AppError('unavailable', 'vault.start_key', `The keychain of this user ${why}.`, { hint });
}

export function createKeychain({ environment, system = process.platform, patienceMs = 10_000 }: KeychainDeps): StartKey {
  const run = (command: string, args: readonly string[], input = ''): Promise<Answer> =>
    runTool({ command, args, input, environment, patienceMs });

  function tool(): Tool {
    if (system === 'darwin') return macKeychain(run);
    if (system !== 'linux') throw refused(`is not supported on ${system}`);
    const bus = environment['DBUS_SESSION_BUS_ADDRESS'] ?? busSocket(environment['XDG_RUNTIME_DIR']);
    if (bus === undefined) throw refused('is not there: the daemon has no session bus, as on a server without a desktop');
    return secretService(run);
  }

  async function read(name: string): Promise<Uint8Array | undefined> {
    const found = await tool().find(name);
    if (found === undefined) return undefined;
    const secret = Buffer.from(found.toString('latin1').trim(), 'base64url');
    found.fill(0);
    if (secret.length !== 32) throw refused('holds something else under the name of this vault');
    return secret;
  }

  return {
    read,
    async make(name) {
      const secret = randomBytes(32);
      await tool().put(name, secret.toString('base64url'));
      // Some keychains take an entry and keep it nowhere.
      const kept = await read(name);
      if (kept === undefined || !secret.equals(kept)) throw refused('did not keep what it was given');
      kept.fill(0);
      return secret;
    },
    remove: async (name) => tool().clear(name),
  };
}

function busSocket(runtimeFolder: string | undefined): string | undefined {
  if (runtimeFolder === undefined || !existsSync(join(runtimeFolder, 'bus'))) return undefined;
  return `unix:path=${join(runtimeFolder, 'bus')}`;
}

type Run = (command: string, args: readonly string[], input?: string) => Promise<Answer>;

/** secret-tool(1): a look-up that finds nothing ends with 1 and says nothing. */
function secretService(run: Run): Tool {
  const place = (name: string): string[] => ['application', 'sallyport', 'slot', name];
  return {
    async find(name) {
      const { code, stdout, stderr } = await run('secret-tool', ['lookup', ...place(name)]);
      if (code === 0 && stdout.length > 0) return stdout;
      if (stderr === '') return undefined;
      throw refused(`could not be asked (${stderr})`);
    },
    async put(name, secret) {
      const { code, stderr } = await run('secret-tool', ['store', '--label=Sallyport vault', ...place(name)], secret);
      if (code !== 0) throw refused(`did not take the entry (${stderr === '' ? `exit code ${code}` : stderr})`);
    },
    async clear(name) {
      await run('secret-tool', ['clear', ...place(name)]);
    },
  };
}

/** security(1): interactive mode takes its command from standard input, so that the secret is in no argv. 44: no such entry. */
function macKeychain(run: Run): Tool {
  const place = (name: string): string[] => ['-a', name, '-s', 'sallyport-vault'];
  return {
    async find(name) {
      const { code, stdout, stderr } = await run('security', ['find-generic-password', ...place(name), '-w']);
      if (code === 0) return stdout;
      if (code === 44) return undefined;
      throw refused(`could not be asked (${stderr === '' ? `exit code ${code}` : stderr})`);
    },
    async put(name, secret) {
      const line = ['add-generic-password', '-U', ...place(name), '-w', secret].join(' ');
      const { code, stderr } = await run('security', ['-i'], `${line}\n`);
      if (code !== 0) throw refused(`did not take the entry (${stderr === '' ? `exit code ${code}` : stderr})`);
    },
    async clear(name) {
      await run('security', ['delete-generic-password', ...place(name)]);
    },
  };
}

function runTool(job: {
  readonly command: string;
  readonly args: readonly string[];
  readonly input: string;
  readonly environment: KeychainDeps['environment'];
  readonly patienceMs: number;
}): Promise<Answer> {
  const { command, args, input, environment, patienceMs } = job;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    });
    const out: Buffer[] = [];
    let stderr = '';
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) out.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, 200)));
    child.stdin.on('error', () => undefined);
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        refused(
          error.code === 'ENOENT' ? `needs the program ${command}, which is not installed` : `cannot be asked (${error.code})`,
        ),
      );
    });
    child.on('close', (code, signal) => {
      if (signal !== null) reject(refused(`did not answer within ${Math.round(patienceMs / 1_000)} s; it may be locked`));
      else resolve({ code, stdout: Buffer.concat(out), stderr: stderr.split('\n')[0]?.trim() ?? '' });
    });
    child.stdin.end(input);
  });
}
