// `sallyport mcp`: MCP over stdin and stdout for agents that start a program. The token says who the agent is; the daemon decides.
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import { AppError } from '../../kernel/errors.ts';
import { createLog } from '../../platform/log.ts';
import { readPrivateFile } from '../../platform/private-file.ts';
import { runBridge } from '../../wire/bridge.ts';
import { readSettings } from '../config.ts';
import { readRunFile } from '../run-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const input = z.strictObject({
  toolset: z.enum(['gate']).optional().describe('Serve only these tools; without it everything the agent may see.'),
});

export function mcpCommand(environment: Environment): Command {
  return {
    words: ['mcp'],
    summary: 'Serve MCP over standard input and output, for an agent that starts a program.',
    description: [
      'Needs the agent’s token in SALLYPORT_TOKEN, or in a file (mode 0600) named by SALLYPORT_TOKEN_FILE. Relays to the running daemon,',
      'which decides and records everything; without a daemon every request is answered with what to do.',
    ].join('\n'),
    input,
    positionals: [],
    examples: ['mcp', 'mcp --toolset gate'],
    signed: false,
    async run({ given }) {
      const { toolset } = input.parse(given);
      const settings = readSettings(environment, {});
      const token = await tokenOf(environment);
      const door = (await readRunFile(settings.home))?.agent_url ?? configuredDoor(settings.agentPort);
      await runBridge({
        input: process.stdin,
        output: process.stdout,
        endpoint: { url: toolset === undefined ? door : `${door}/${toolset}` },
        token,
        log: createLog({ level: settings.logLevel, stream: process.stderr }),
      });
      return 0;
    },
  };
}

/** The token itself wins over the file. An empty one is refused by the bridge, which says where to get one. */
async function tokenOf(environment: Environment): Promise<string> {
  const token = environment['SALLYPORT_TOKEN'];
  if (token !== undefined && token !== '') return token;
  const path = environment['SALLYPORT_TOKEN_FILE'];
  if (path === undefined || path === '') return '';
  const text = await readPrivateFile(path, { what: 'token file', maxBytes: 4_096 });
  if (text !== undefined) return text.trim();
  throw new AppError('not_found', 'bridge.no_token', `There is no token file ${path}.`, {
    hint: 'Put the token that "sallyport agent add NAME" prints into it, then: chmod 600 on the file.',
  });
}

/** Where a daemon of this home would listen. */
function configuredDoor(port: number): string {
  if (port !== 0) return `http://127.0.0.1:${port}/mcp`;
  throw new AppError('unavailable', 'daemon.absent', 'no daemon is running, and its agent port is not fixed', {
    hint: 'Start it with: sallyport up. A fixed agent_port in sallyport.yaml lets agents start first.',
  });
}
