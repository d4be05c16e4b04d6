// `sallyport up`: the daemon in the foreground. Prints where to connect, seats the operator on an empty home, stops on a signal.
import { chmod, mkdir } from 'node:fs/promises';
import { z } from 'zod';
import type { Command, Invocation } from '../../faces/cli/command.ts';
import type { Cli } from '../../faces/cli/ports.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/ports.ts';
import { createLog } from '../../platform/log.ts';
import { clientConfig, launchOf } from '../client-config.ts';
import { homeOf, readSettings, type Settings } from '../config.ts';
import { guideFirstRun } from '../first-run.ts';
import type { OperatorKeyFileAt } from '../operator-keyring.ts';
import { removeRunFile, runningDaemon, writeRunFile } from '../run-file.ts';
import { openOrCreateKey, readSeat, takeSeat } from '../seat-operator.ts';
import { listenForStop, type StopSignal } from '../stop-signal.ts';

const port = z.int().min(0).max(65_535).optional();
const input = z.strictObject({
  agent_port: port.describe('Port of the agent door on 127.0.0.1; 0 takes any free one. Default 7077, or sallyport.yaml.'),
  human_port: port.describe('Port of the human door; 0 takes any free one. Default 7078, or sallyport.yaml.'),
});

interface RunningDaemon {
  /** Ends in /mcp. */
  readonly agentUrl: string;
  readonly humanUrl: string;
  readonly socket: string;
  close(): Promise<void>;
}

export type StartDaemon = (settings: Settings, log: Log) => Promise<RunningDaemon>;

interface UpDeps {
  readonly startDaemon: StartDaemon;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly keyring: OperatorKeyFileAt;
  /** Opens a vault that waits for a passphrase with the file that has it; true when it did. */
  readonly openVault?: (daemon: Cli['daemon']) => Promise<boolean>;
  /** The commands of the catalog, for the guided first run. */
  readonly commands: () => readonly Command[];
}

export function upCommand(deps: UpDeps): Command {
  return {
    words: ['up'],
    summary: 'Start the daemon in the foreground and print where agents connect and how people decide.',
    description: [
      'The first run at a terminal guides through the operator’s passphrase, the first agent and the first upstream. Without a',
      'terminal it asks nothing; SALLYPORT_OPERATOR_PASSPHRASE_FILE names a file (mode 0600) to create the operator from.',
      'With --json the first line on standard output is {"agent_url", "human_url", "socket", "pid"}. SIGTERM or Ctrl-C stops it.',
    ].join('\n'),
    input,
    positionals: [],
    examples: ['up', 'up --agent-port 0 --human-port 0 --json'],
    signed: false,
    run: (invocation, cli) => up(deps, invocation, cli),
  };
}

async function up(deps: UpDeps, { given, json }: Invocation, cli: Cli): Promise<number> {
  const stop = listenForStop();
  const { agent_port: agentPort, human_port: humanPort } = input.parse(given);
  await makeHome(homeOf(deps.environment));
  const settings = readSettings(deps.environment, {
    ...(agentPort === undefined ? {} : { agentPort }),
    ...(humanPort === undefined ? {} : { humanPort }),
  });
  await assertAlone(settings.home);
  const log = createLog({ level: settings.logLevel, stream: process.stderr });

  const daemon = await deps.startDaemon(settings, log);
  const running = { agent_url: daemon.agentUrl, human_url: daemon.humanUrl, socket: daemon.socket, pid: process.pid };
  try {
    await writeRunFile(settings.home, running);
    const launch = launchOf(deps.environment['PATH']);
    const person = json ? undefined : cli.person;
    const firstRun = await unlessStopped(stop, seat(deps, { ...cli, person }, log));
    await unlessStopped(stop, unlockVault(deps, cli, log));
    if (!stop.isAsked()) cli.out(json ? JSON.stringify(running) : welcome(settings, daemon));
    if (firstRun === true && person !== undefined) {
      await unlessStopped(stop, guideFirstRun({ ...cli, person }, deps.commands(), daemon.agentUrl, launch));
    } else if (!json && !stop.isAsked()) {
      cli.out(clientConfig(daemon.agentUrl, undefined, launch));
    }
    person?.release();
    log.info('stopping', { reason: await stop.asked });
  } finally {
    await daemon.close();
    await removeRunFile(settings.home, process.pid);
  }
  return 0;
}

/** True when the operator took the empty seat just now. */
async function seat({ keyring }: UpDeps, cli: Cli, log: Log): Promise<boolean> {
  const { exists, installation } = await readSeat(cli.daemon);
  if (exists) return false;
  const key = await openOrCreateKey(keyring, cli.person, (text) => cli.note(text));
  if (key === undefined) {
    log.warn('there is no operator yet, so nothing can be decided; create one with: sallyport operator init');
    return false;
  }
  await takeSeat(cli.daemon, installation, key);
  key.wipe();
  log.info('the operator is created', { key: key.keyId });
  return true;
}

/** A vault that waits for a passphrase stays locked where no file has it, and everything else works. */
async function unlockVault({ openVault }: UpDeps, { daemon }: Cli, log: Log): Promise<void> {
  try {
    if ((await openVault?.(daemon)) === true) log.info('the vault is open');
  } catch (thrown) {
    const { message } = asAppError(thrown);
    log.warn('the vault stays locked; open it with: sallyport vault unlock', { cause: message });
  }
}

async function assertAlone(home: string): Promise<void> {
  const other = await runningDaemon(home);
  if (other === undefined) return;
  const pid = other.pid === undefined ? '' : ` (pid ${other.pid})`;
  throw new AppError('conflict', 'daemon.running', `a daemon is already running for ${home}${pid}`, {
    hint: 'Use it as it is, or stop it first with: sallyport down',
  });
}

async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    // What is in it is nobody else's business, whatever the folder was before.
    await chmod(home, 0o700);
  } catch (thrown) {
    const { code = 'unknown error' } = thrown as NodeJS.ErrnoException;
    throw new AppError('unavailable', 'daemon.no_home', `the home ${home} cannot be used (${code})`, {
      hint: 'Set SALLYPORT_HOME to a folder that you own.',
      cause: thrown,
    });
  }
}

/** A stop wins over any question that nobody answers. */
async function unlessStopped<T>(stop: StopSignal, work: Promise<T>): Promise<T | undefined> {
  work.catch(() => undefined);
  return Promise.race([work, stop.asked.then(() => undefined)]);
}

function welcome(settings: Settings, daemon: RunningDaemon): string {
  return [
    `Sallyport is up. Home ${settings.home}, pid ${process.pid}; Ctrl-C stops it.`,
    '',
    `  Agents connect at   ${daemon.agentUrl}   or over stdio with: sallyport mcp`,
    '  People decide with  sallyport approvals list, then: sallyport approve ID, or: sallyport deny ID --reason TEXT',
    `  The human door      ${daemon.humanUrl}`,
    '',
  ].join('\n');
}
