// Ready-to-paste configuration of the common agents: how each is told where the agent door is and which token to show.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageFile } from './package-files.ts';

/** What a client starts for stdio. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** `token` is `undefined` when it was shown once already. */
export function clientConfig(agentUrl: string, token: string | undefined, launch: Launch): string {
  const shown = token ?? 'TOKEN';
  const headers = { Authorization: `Bearer ${shown}` };
  const stdio = { ...launch, env: { SALLYPORT_TOKEN: shown } };
  return [
    'Claude Code',
    ...indented(`claude mcp add --transport http sallyport ${agentUrl} --header "Authorization: Bearer ${shown}"`),
    'Cursor (~/.cursor/mcp.json)',
    ...indented(pretty({ mcpServers: { sallyport: { url: agentUrl, headers } } })),
    'VS Code (.vscode/mcp.json)',
    ...indented(pretty({ servers: { sallyport: { type: 'http', url: agentUrl, headers } } })),
    'Codex (~/.codex/config.toml)',
    ...indented(
      [
        '[mcp_servers.sallyport]',
        `command = ${JSON.stringify(launch.command)}`,
        `args = ${JSON.stringify(launch.args)}`,
        `env = { SALLYPORT_TOKEN = "${shown}" }`,
      ].join('\n'),
    ),
    'Anything that starts a program and speaks stdio',
    ...indented(pretty({ mcpServers: { sallyport: stdio } })),
    ...(token === undefined ? ['TOKEN is what `sallyport agent add NAME` shows once.'] : []),
  ].join('\n');
}

/** `sallyport mcp` where a client will find it by that name; from a clone, the launcher by its path. */
export function launchOf(path: string | undefined): Launch {
  // npx puts the clone's own folder of bins on the PATH of this process; a client started elsewhere does not have it.
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'));
  if (folders.some((folder) => isExecutable(join(folder, 'sallyport')))) return { command: 'sallyport', args: ['mcp'] };
  return { command: 'node', args: [packageFile('bin/sallyport.js'), 'mcp'] };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function pretty(value: object): string {
  return JSON.stringify(value, undefined, 2);
}

function indented(text: string): string[] {
  return [...text.split('\n').map((line) => `  ${line}`), ''];
}
