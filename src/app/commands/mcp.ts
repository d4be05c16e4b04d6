// `sallyport mcp`: MCP over stdin and stdout for agents that start a program. The token says who the agent is; the daemon decides.
import { z } from 'zod';
import type { Command } from '../../faces/cli/command.ts';
import { createLog } from '../../platform/log.ts';
import { runBridge } from '../../wire/bridge.ts';
import { agentDoor, agentToken, type Environment } from '../agent-access.ts';
import { readSettings } from '../config.ts';

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
      // An empty one is refused by the bridge, which says where to get one.
      const token = await agentToken(environment);
      const door = await agentDoor(settings);
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
