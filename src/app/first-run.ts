// The guided part of a first run: the first agent and the first upstream, through the very commands a person would type later.
import { splitWords } from '../lib/split-words.ts';
import { asAppError } from '../kernel/errors.ts';
import type { Command } from '../faces/cli/command.ts';
import { drawFailure } from '../faces/cli/failure.ts';
import { runCommandLine } from '../faces/cli/run-command-line.ts';
import type { Cli, Person } from '../faces/cli/ports.ts';
import { clientConfig, type Launch } from './client-config.ts';

type CliWithPerson = Cli & { readonly person: Person };

/** Never rejects for a mistake of the person: it says what went wrong and how to do it later. An empty answer skips. */
export async function guideFirstRun(
  cli: CliWithPerson,
  commands: readonly Command[],
  agentUrl: string,
  launch: Launch,
): Promise<void> {
  try {
    cli.note(
      '\nThe operator is created. Each of the next two is a decision of yours, so the passphrase is asked for each. Enter alone skips.\n',
    );
    const token = await addAgent(cli, commands);
    await addUpstream(cli, commands);
    cli.out(`\n${clientConfig(agentUrl, token, launch)}`);
  } catch (error) {
    cli.note(drawFailure(asAppError(error), false));
  }
  cli.note('Later: sallyport agent add NAME, sallyport upstream add NAME -- COMMAND, sallyport help.');
}

/** The token, which is shown once: here, inside the configuration. */
async function addAgent(cli: CliWithPerson, commands: readonly Command[]): Promise<string | undefined> {
  const name = (await cli.person.ask('Name of the first agent, e.g. claude-code: ')).trim();
  if (name === '') return undefined;
  let token: string | undefined;
  const hold: Cli = { ...cli, out: (text) => (token = tokenOf(text)) };
  await runCommandLine(['agent', 'add', '--json', '--', name], commands, hold);
  return token;
}

async function addUpstream(cli: CliWithPerson, commands: readonly Command[]): Promise<void> {
  const line = await cli.person.ask('Command of the first MCP server, e.g. npx -y @modelcontextprotocol/server-everything: ');
  const words = splitWords(line);
  if (words === undefined) cli.note('A quote is left open there; add the server later.');
  if (words === undefined || words.length === 0) return;
  const name = (await cli.person.ask('Name for it, e.g. everything: ')).trim();
  if (name !== '') await runCommandLine(['upstream', 'add', name, '--', ...words], commands, cli);
}

function tokenOf(json: string): string | undefined {
  const { token } = JSON.parse(json) as { token?: unknown };
  return typeof token === 'string' ? token : undefined;
}
