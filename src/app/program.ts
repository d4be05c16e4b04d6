// The program behind `sallyport`: binds the commands to this process, its streams and its home, and ends with the exit code.
import { resolve } from 'node:path';
import { runCommandLine } from '../faces/cli/run-command-line.ts';
import { commandsOf } from '../faces/cli/operation-commands.ts';
import type { Command } from '../faces/cli/command.ts';
import type { Cli } from '../faces/cli/ports.ts';
import type { Operation } from '../kernel/operation.ts';
import { createClock } from '../platform/clock.ts';
import { createDigest, createEntropy } from '../platform/crypto.ts';
import { createDaemonClient } from '../platform/daemon-client.ts';
import { openBrowser } from '../platform/open-browser.ts';
import { readPassphraseFile } from '../platform/passphrase-file.ts';
import { readStandardInput } from '../platform/standard-input.ts';
import { openControllingTerminal, openTerminal } from '../platform/terminal.ts';
import { createTokenHttp } from '../platform/token-http.ts';
import { authLoginCommand } from './commands/auth-login.ts';
import { verifyingOffline } from './commands/audit-verify.ts';
import { downCommand } from './commands/down.ts';
import { gitCredentialCommand } from './commands/git-credential.ts';
import type { LoginParts } from './commands/make-login.ts';
import { mcpCommand } from './commands/mcp.ts';
import { operatorInitCommand } from './commands/operator-init.ts';
import { statusCommand } from './commands/status.ts';
import { upCommand, type StartDaemon } from './commands/up.ts';
import type { VaultCommandDeps } from './commands/vault-parts.ts';
import { unlockFromFile } from './commands/vault-unlock.ts';
import { vaultCommands } from './commands/vault.ts';
import { versionCommand } from './commands/version.ts';
import { homeOf, socketOf } from './config.ts';
import { operatorKeyringOf } from './operator-keyring.ts';

export interface Program {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Every operation as declared, to derive commands from without a daemon. */
  readonly operations: readonly Operation[];
  readonly startDaemon: StartDaemon;
}

/** Runs one command line in this process and ends the process with its exit code. Never rejects. */
export async function runProgram(program: Program): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
  process.on('uncaughtException', (error) => {
    reportUnexpected(error);
    process.exit(1);
  });
  tieToLauncher();
  const home = homeOf(program.environment);
  const person = openTerminal();
  const cli: Cli = {
    out: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    person,
    daemon: createDaemonClient({ socketPath: socketOf(home), home }),
    keyring: operatorKeyringOf(home, program.environment),
    absolute: (path) => resolve(path),
    now: () => Date.now(),
  };
  const argv = program.argv[0] === '--version' ? ['version', ...program.argv.slice(1)] : program.argv;
  // The timers and watchers behind the ports keep no process alive, and a start or a stop may wait for nothing else.
  const alive = setInterval(() => undefined, 60_000);
  const code = await runCommandLine(argv, programCommands(program, home), cli, reportUnexpected);
  clearInterval(alive);
  person?.release();
  // What was written must have left before the process does; the callback also comes for a pipe that nobody reads any more.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

/** The app's own commands first, then those of the operations. */
export function programCommands(program: Omit<Program, 'argv'>, home: string): Command[] {
  const { environment, startDaemon } = program;
  const keyring = operatorKeyringOf(home, environment);
  const derived = verifyingOffline(commandsOf(program.operations), program.operations, home);
  const vault: VaultCommandDeps = {
    operations: program.operations,
    readInput: (maxBytes) => readStandardInput(maxBytes),
    passphraseFromFile: () => vaultPassphraseFile(environment),
    personBesidePipe: () => openControllingTerminal(),
  };
  const ofVault = vaultCommands(vault);
  const openVault = ofVault.length === 0 ? {} : { openVault: (daemon: Cli['daemon']) => unlockFromFile(vault, daemon) };
  return [
    upCommand({ environment, keyring, startDaemon, commands: () => derived, ...openVault }),
    downCommand(home),
    statusCommand(home),
    mcpCommand(environment),
    gitCredentialCommand({ environment, http: createTokenHttp(), readInput: (maxBytes) => readStandardInput(maxBytes) }),
    versionCommand(),
    operatorInitCommand(keyring),
    ...derived,
    ...ofVault,
    ...(ofVault.length === 0 ? [] : [authLoginCommand(vault, loginParts())]),
  ];
}

function loginParts(): LoginParts {
  return { http: createTokenHttp(), clock: createClock(), entropy: createEntropy(), digest: createDigest(), openBrowser };
}

/** A file for the vault alone, else the operator's: what is derived from it for the vault is of no use for the operator's key. */
async function vaultPassphraseFile(environment: Program['environment']): Promise<string | undefined> {
  const path = environment['SALLYPORT_VAULT_PASSPHRASE_FILE'] || environment['SALLYPORT_OPERATOR_PASSPHRASE_FILE'];
  return path === undefined || path === '' ? undefined : readPassphraseFile(path);
}

/** bin/sallyport.js on an older Node holds a channel to us: when it dies in any way, nobody waits for this command any more. */
function tieToLauncher(): void {
  if (process.channel === undefined) return;
  // A daemon in the foreground listens too, and stops in order instead (stop-signal.ts).
  process.on('disconnect', () => {
    if (process.listenerCount('disconnect') === 1) process.exit(1);
  });
  process.channel.unref();
}

/** `sallyport audit query | head` ends when head has had enough; that is no failure of ours. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
}

/** Where it happened and what kind, for a bug report. The message stays out: it may quote what the program was working on. */
function reportUnexpected(thrown: unknown): void {
  const error = thrown instanceof Error ? thrown : new Error('not an error');
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  const frames = (cause.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const what = typeof code === 'string' ? `${cause.name} ${code}` : cause.name;
  process.stderr.write(`sallyport: unexpected ${what}\n${frames.slice(0, 6).join('\n')}\n`);
}
