// The answer of the two operations that make a token: the only place a token is shown, and how.
import { z } from 'zod';

export const tokenOutput = z.strictObject({
  agent: z.string(),
  token: z.string(),
  agent_url: z.string().optional().describe('Where the agent connects.'),
});

type TokenOutput = z.infer<typeof tokenOutput>;

/** `agent_url` is left out while no agent door is open. */
export function tokenAnswer(agent: string, token: string, agentUrl: string | undefined): TokenOutput {
  return { agent, token, ...(agentUrl !== undefined && { agent_url: agentUrl }) };
}

/** `done`: what happened to the agent, as in `was added`. */
export function tokenDrawing(done: string): (output: TokenOutput) => string {
  return ({ agent, token, agent_url: url }) =>
    [
      `Agent ${agent} ${done}. This is its token; it is not shown again:`,
      '',
      `  ${token}`,
      '',
      ...(url === undefined
        ? [`It is sent as \`Authorization: Bearer ${token}\`.`]
        : [
            'Connect Claude Code with:',
            '',
            `  claude mcp add --transport http sallyport ${url} --header "Authorization: Bearer ${token}"`,
            '',
            'or any other client with:',
            '',
            `  {"mcpServers": {"sallyport": {"type": "http", "url": "${url}", "headers": {"Authorization": "Bearer ${token}"}}}}`,
          ]),
    ].join('\n');
}
