// `sallyport git-credential`: the helper that git runs to be given a token. It carries a question to the daemon and an answer back, and
// decides and keeps nothing. Its standard output belongs to git, what is to be read goes to standard error.
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import { readAttributes, writeAttributes } from '../../faces/cli/git-attributes.ts';
import type { Cli } from '../../faces/cli/ports.ts';
import { gitCredentialPath } from '../../faces/http/git-door.ts';
import { AppError, asAppError, type ErrorKind } from '../../kernel/errors.ts';
import type { TokenHttp } from '../../kernel/ports.ts';
import { agentDoor, agentToken, type Environment } from '../agent-access.ts';
import { readSettings } from '../config.ts';

const input = z.strictObject({
  action: z.string().describe('What git wants: get, store or erase. install: print how to set git up.'),
});

/** A locked vault is waited for 55 s. */
const patienceMs = 70_000;
const maxBytes = 64 * 1024;

export interface GitCredentialParts {
  readonly environment: Environment;
  readonly http: TokenHttp;
  readonly readInput: (maxBytes: number) => Promise<Uint8Array>;
}

export function gitCredentialCommand(parts: GitCredentialParts): Command {
  return {
    words: ['git-credential'],
    summary: 'Give git a token for one repository; git runs this as its credential helper.',
    description: [
      'Set git up once, for each host of "sallyport git ls" (install prints the lines for them):',
      ...setupOf('github.com').map((line) => `  ${line}`),
      'Needs the agent’s token in SALLYPORT_TOKEN, or in a file (mode 0600) named by SALLYPORT_TOKEN_FILE. What git is given is for the',
      'repository it asks about alone, and as short-lived as the grant of git:credential:HOST/OWNER/NAME that it stands on.',
    ].join('\n'),
    input,
    positionals: ['action'],
    examples: ['git-credential install', 'git-credential get'],
    signed: false,
    async run({ given }, cli) {
      const { action } = input.parse(given);
      if (action === 'install') return install(cli);
      // git may come to want more of its helpers, and wants those that do not know it to say nothing.
      if (action !== 'get' && action !== 'store' && action !== 'erase') return 0;
      const { protocol, host, path } = readAttributes(new TextDecoder().decode(await parts.readInput(maxBytes)));
      // What git was given is the daemon's own; nothing is to be kept for it.
      if (action === 'store') return 0;
      try {
        const answer = await ask(parts, { action, protocol, host, path });
        if (action === 'get') cli.out(writeAttributes(answer));
      } catch (thrown) {
        if (action === 'get') refuse(asAppError(thrown), cli);
      }
      return 0;
    },
  };
}

/** Nobody else is asked for a token that was refused here; for a host that is none of ours, git goes on to its other helpers. */
function refuse({ code, message, hint }: AppError, cli: Cli): void {
  cli.note(`sallyport: ${message}${hint === undefined ? '' : ` ${hint}`}`);
  if (code !== 'git.not_listed') cli.out('quit=1');
}

async function ask({ environment, http }: GitCredentialParts, question: object): Promise<Record<string, string | number>> {
  const token = await agentToken(environment);
  if (token === '') {
    const hint = 'Set SALLYPORT_TOKEN, or SALLYPORT_TOKEN_FILE to a file that holds it.';
    throw new AppError('unauthenticated', 'git.no_agent', 'git is given nothing without the token of an agent.', { hint });
  }
  const door = await agentDoor(readSettings(environment, {}));
  const request = http.request({
    url: new URL(gitCredentialPath, door).href,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(question),
    signal: new AbortController().signal,
    timeoutMs: patienceMs,
    maxBytes,
  });
  const { status, body } = await request.catch((thrown: unknown) => {
    const hint = 'Start it with: sallyport up';
    throw new AppError('unavailable', 'daemon.absent', `The daemon does not answer: ${asAppError(thrown).message}.`, { hint });
  });
  const answer = answerIn(body);
  if (status === 200) return answer;
  const { kind, code, message, hint } = answer.error ?? { kind: 'internal', code: 'git.garbled', message: `it answered ${status}` };
  throw new AppError(kind, code, message, hint === undefined ? {} : { hint });
}

function answerIn(body: string): Record<string, string | number> & { error?: AnsweredError } {
  try {
    return JSON.parse(body) as ReturnType<typeof answerIn>;
  } catch {
    const hint = 'Check with "sallyport status" what listens on the agent port.';
    throw new AppError('unavailable', 'daemon.garbled', 'What answers at the agent door is no daemon of ours.', { hint });
  }
}

interface AnsweredError {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

async function install(cli: Cli): Promise<number> {
  const entries = (await cli.daemon.operate('git.list', {})) as readonly { readonly account: string }[];
  const hosts = new Set(entries.map(({ account }) => account.slice(0, account.indexOf('/'))));
  for (const line of [...hosts].flatMap(setupOf)) cli.out(line);
  if (hosts.size === 0) cli.note('There is no host yet; enter one with: sallyport git allow');
  return 0;
}

/** The empty helper first: git forgets those of wider settings for this host, so that only this one is asked. */
function setupOf(host: string): readonly string[] {
  const at = `git config --global`;
  const section = `credential.https://${host}`;
  return [
    `${at} ${section}.helper ''`,
    `${at} --add ${section}.helper '!sallyport git-credential'`,
    `${at} ${section}.useHttpPath true`,
  ];
}
