// Ready-to-paste configuration of the common agents: how each is told where the agent door is and which token to show.

/** `undefined` stands for a token that was shown once already. */
export function clientConfig(agentUrl: string, token: string | undefined): string {
  const shown = token ?? 'TOKEN';
  const authorization = { Authorization: `Bearer ${shown}` };
  return [
    'Claude Code',
    ...indented(`claude mcp add --transport http sallyport ${agentUrl} --header "Authorization: Bearer ${shown}"`),
    'Cursor (~/.cursor/mcp.json)',
    ...indented(JSON.stringify({ mcpServers: { sallyport: { url: agentUrl, headers: authorization } } }, undefined, 2)),
    'VS Code (.vscode/mcp.json)',
    ...indented(JSON.stringify({ servers: { sallyport: { type: 'http', url: agentUrl, headers: authorization } } }, undefined, 2)),
    'Codex (~/.codex/config.toml)',
    ...indented(`[mcp_servers.sallyport]\ncommand = "sallyport"\nargs = ["mcp"]\nenv = { SALLYPORT_TOKEN = "${shown}" }`),
    'Anything that starts a program over stdio',
    ...indented(
      JSON.stringify(
        { mcpServers: { sallyport: { command: 'sallyport', args: ['mcp'], env: { SALLYPORT_TOKEN: shown } } } },
        undefined,
        2,
      ),
    ),
    ...(token === undefined ? ['TOKEN is what `sallyport agent add NAME` shows once.'] : []),
  ].join('\n');
}

function indented(text: string): string[] {
  return [...text.split('\n').map((line) => `  ${line}`), ''];
}
