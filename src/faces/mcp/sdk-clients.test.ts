// The official clients as peers, both lines of the SDK, over HTTP and over the stdio bridge: what agents really run.
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTestDoor, type TestDoor } from '../../../test/support/agent-door.ts';
import { toolText } from '../../../test/support/fake-dispatch.ts';

const bridgeProgram = new URL('../../../test/support/bridge-process.ts', import.meta.url).pathname;
const headers = { Authorization: 'Bearer token-kimi' };

/** The little both lines of the SDK have in common, under one name. */
interface Peer {
  toolNames(): Promise<string[]>;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (note: { progress: number }) => void },
  ): Promise<unknown>;
  /** Sends a ping, where its revision has one. */
  ping(): Promise<unknown>;
  version(): string | undefined;
  server(): unknown;
  changes(): number;
  close(): Promise<void>;
  /** Sessions it holds at the door. */
  readonly sessions: number;
}

type Connect = (door: TestDoor) => Promise<Peer>;

function spawned(door: TestDoor): { command: string; args: string[]; stderr: 'inherit' } {
  return { command: process.execPath, args: [bridgeProgram, door.url.href, 'token-kimi'], stderr: 'inherit' };
}

async function classic(transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<Peer> {
  const client = new Client({ name: 'classic', version: '1' });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1));
  await client.connect(transport);
  return {
    async toolNames() {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor });
        names.push(...page.tools.map(({ name }) => name));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return names;
    },
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    ping: () => client.ping(),
    version: () => (transport instanceof StreamableHTTPClientTransport ? transport.protocolVersion : undefined),
    server: () => client.getServerVersion(),
    changes: () => changes,
    sessions: 1,
    async close() {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
      await client.close();
    },
  };
}

async function modern(transport: ModernHttp | ModernStdio, mode: 'legacy' | 'auto' | { pin: string }): Promise<Peer> {
  let changes = 0;
  const stateless = mode !== 'legacy';
  const client = new ModernClient(
    { name: 'modern', version: '1' },
    {
      versionNegotiation: { mode },
      // Without sessions the client subscribes to what it has a listener for.
      ...(stateless ? { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void (changes += 1) } } } : {}),
    },
  );
  if (!stateless) client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1));
  await client.connect(transport);
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    ping: async () => (stateless ? undefined : client.ping()),
    version: () => client.getNegotiatedProtocolVersion(),
    server: () => client.getServerVersion(),
    changes: () => changes,
    sessions: stateless ? 0 : 1,
    async close() {
      if (transport instanceof ModernHttp && !stateless) await transport.terminateSession();
      await client.close();
    },
  };
}

const peers: [string, Connect][] = [
  ['SDK v1 over HTTP', (door) => classic(new StreamableHTTPClientTransport(door.url, { requestInit: { headers } }))],
  ['SDK v2 over HTTP', (door) => modern(new ModernHttp(door.url, { requestInit: { headers } }), 'legacy')],
  ['SDK v2 over HTTP, probing for 2026-07-28', (door) => modern(new ModernHttp(door.url, { requestInit: { headers } }), 'auto')],
  [
    'SDK v2 over HTTP, with nothing but 2026-07-28',
    (door) => modern(new ModernHttp(door.url, { requestInit: { headers } }), { pin: '2026-07-28' }),
  ],
  ['SDK v1 over the bridge', (door) => classic(new StdioClientTransport(spawned(door)))],
  ['SDK v2 over the bridge', (door) => modern(new ModernStdio(spawned(door)), 'legacy')],
  ['SDK v2 over the bridge, probing for 2026-07-28', (door) => modern(new ModernStdio(spawned(door)), 'auto')],
  ['SDK v2 over the bridge, with nothing but 2026-07-28', (door) => modern(new ModernStdio(spawned(door)), { pin: '2026-07-28' })],
];

describe.each(peers)('%s', (_, connect) => {
  let door: TestDoor;
  let peer: Peer;

  beforeEach(async () => {
    door = await openTestDoor();
    peer = await connect(door);
  });

  afterEach(async () => {
    await peer.close();
    await door.close();
  });

  test('[DOOR-1] [DOOR-7] [DOOR-9] [ERA-1] it connects in the newest revision it has, pings, walks a list of several pages and calls', async () => {
    expect(peer.server()).toEqual({ name: 'sallyport', version: '0.0.0' });
    expect(peer.sessions === 0 ? ['2026-07-28'] : [undefined, '2025-11-25']).toContain(peer.version());
    await peer.ping();
    const names = Array.from({ length: 230 }, (__, index) => `up__tool-${index}`);
    door.dispatch.listed = names.map(toolText);
    expect(await peer.toolNames()).toEqual(names);
    expect(await peer.call('up__echo', { a: ['ü', 1] })).toMatchObject({ content: [{ type: 'text', text: '{"a":["ü",1]}' }] });
  });

  // A client of the SDK loses notices that share a chunk with the result (typescript-sdk#2580), so the result comes a little later here;
  // that none is lost at the door itself is held in endpoint.test.ts.
  test('[DOOR-5] progress arrives whole and in order', async () => {
    door.dispatch.tools_.set('up__steps', async ({ onProgress }) => {
      for (let step = 1; step <= 5; step += 1) onProgress?.({ progress: step, total: 5 });
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const steps: number[] = [];
    await peer.call('up__steps', {}, { onprogress: ({ progress }) => steps.push(progress) });
    expect(steps).toEqual([1, 2, 3, 4, 5]);
  });

  test('[DOOR-1] [ERA-6] closing it ends its session, or its subscription where there are no sessions', async () => {
    expect(door.endpoint.size()).toBe(peer.sessions);
    await peer.close();
    await expect.poll(() => door.endpoint.size() + door.endpoint.stateless.subscriptions()).toBe(0);
  });

  test('[DOOR-6] an aborted call is cancelled at the gateway and the session lives on', async () => {
    const abort = new AbortController();
    const call = peer.call('up__hangs', { n: 42 }, { signal: abort.signal });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    abort.abort('enough');
    await expect(call).rejects.toThrow(/enough|abort/i);
    await expect.poll(() => door.dispatch.cancelled).toEqual([42]);
    expect(await peer.call('up__echo', {})).toBeDefined();
  });

  test('[DOOR-8] a change of the tools is heard', async () => {
    await expect
      .poll(
        () => {
          door.dispatch.change();
          return peer.changes();
        },
        { interval: 100, timeout: 5_000 },
      )
      .toBeGreaterThan(0);
  });

  test('[ERA-5] [ERA-9] a tool whose arguments are repeated in headers is listed and called like any other', async () => {
    const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    door.dispatch.listed = [JSON.stringify({ name: 'up__echo', inputSchema })];
    expect(await peer.toolNames()).toEqual(['up__echo']);
    expect(await peer.call('up__echo', { region: 'Zürich' })).toMatchObject({ content: [{ text: '{"region":"Zürich"}' }] });
  });

  test('[TOOL-7] misuse is an error result, a broken upstream an error of its own', async () => {
    expect(await peer.call('nope', {})).toMatchObject({ isError: true, content: [{ text: "ERROR: Unknown tool 'nope'" }] });
    await expect(peer.call('up__fails', {})).rejects.toMatchObject({
      code: -32050,
      message: expect.stringContaining('own words') as string,
    });
  });
});
