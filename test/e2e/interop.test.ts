// Servers and clients nobody here wrote: stock servers from npm and servers of both SDK lines behind the running program, clients of
// both SDK lines in front of it. What a client gets through the gateway is what it gets from the server itself.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { addAgent, decide, openHouse } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  kimi:
    capabilities:
      - match: "*:call:*"
        effect: allow
`;

const stock = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const sdkServers = fileURLToPath(new URL('../fixtures/sdk-servers.ts', import.meta.url));

interface Peer {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly call: { readonly name: string; readonly arguments: Record<string, unknown> };
}

const peers = (scratch: string): readonly Peer[] => [
  {
    name: 'everything',
    command: [process.execPath, stock('everything'), 'stdio'],
    call: { name: 'get-structured-content', arguments: { location: 'New York' } },
  },
  {
    name: 'files',
    command: [process.execPath, stock('filesystem'), scratch],
    call: { name: 'read_text_file', arguments: { path: `${scratch}/note.txt` } },
  },
  { name: 'sdk1', command: [process.execPath, sdkServers, 'v1'], call: { name: 'add', arguments: { a: 2, b: 3 } } },
  { name: 'sdk2', command: [process.execPath, sdkServers, 'v2'], call: { name: 'add', arguments: { a: 2, b: 3 } } },
];

test('[INTEROP-1] stock servers and both SDK lines answer through the gateway as they answer alone, to clients of both lines', async () => {
  const house = await openHouse({ policies });
  const scratch = house.path('scratch');
  mkdirSync(scratch);
  writeFileSync(`${scratch}/note.txt`, 'a note\n');
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'kimi');
  for (const { name, command } of peers(scratch)) await decide(house, daemon, 'fleet.add', { name, run: command });

  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const url = new URL(daemon.agent_url);
  const one = new ClientV1({ name: 'one', version: '1' });
  const two = new ClientV2({ name: 'two', version: '2' }, { versionNegotiation: { mode: 'auto' } });
  await one.connect(new HttpV1(url, { requestInit }));
  await two.connect(new HttpV2(url, { requestInit }));
  onTestFinished(async () => {
    await Promise.all([one.close(), two.close()]);
  });

  for (const { name, command, call } of peers(scratch)) {
    const alone = new ClientV1({ name: 'alone', version: '1' });
    const [program, ...args] = command;
    await alone.connect(new StdioClientTransport({ command: program, args, stderr: 'ignore' }));
    const expected = await alone.callTool(call);
    const definitions = (await alone.listTools()).tools;
    await alone.close();

    const through = { ...call, name: `${name}__${call.name}` };
    expect(expected.isError ?? false).toBe(false);
    expect(await one.callTool(through)).toEqual(expected);
    expect(await two.callTool(through)).toMatchObject(JSON.parse(JSON.stringify(expected)) as object);
    const listed = (await one.listTools()).tools.filter((tool) => tool.name.startsWith(`${name}__`));
    const unprefixed = listed.map((tool) => ({ ...tool, name: tool.name.slice(name.length + 2) }));
    expect(new Map(unprefixed.map((tool) => [tool.name, tool]))).toEqual(new Map(definitions.map((tool) => [tool.name, tool])));
  }
  expect(await daemon.stop()).toBe(0);
}, 60_000);
