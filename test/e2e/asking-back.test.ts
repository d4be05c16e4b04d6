// Programs that ask their client back, one process for each session, behind the running program: the stock server for everything, and a
// fixture. Clients of the SDK answer.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { addAgent, decide, openHouse, until, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  "*":
    capabilities:
      - match: "*:call:*"
        effect: allow
`;
const everything = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

interface Someone {
  readonly client: Client;
  readonly logged: unknown[];
  readonly said: (tool: string, args?: Record<string, unknown>) => Promise<string>;
}

async function someone(daemon: RunningDaemon, token: string, name: string): Promise<Someone> {
  const client = new Client(
    { name, version: '1' },
    { capabilities: { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } } },
  );
  const logged: unknown[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: `sampled by ${name}` },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { by: name } }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: `file:///projects/${name}` }, { uri: 'file:///secret' }],
  }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(daemon.agent_url), { requestInit }));
  onTestFinished(() => client.close());
  return {
    client,
    logged,
    async said(tool, args = {}) {
      const { content } = (await client.callTool({ name: tool, arguments: args })) as { content: { text: string }[] };
      return content.map(({ text }) => text).join('\n');
    },
  };
}

test(
  '[SHARE-2] [SHARE-7] [TWOWAY-20] each of three sessions is asked by the process of its own, and by no other',
  { timeout: 60_000 },
  async () => {
    const house = await openHouse({ policies });
    const daemon = await house.up();
    const tokens = { kimi: await addAgent(house, daemon, 'kimi'), codex: await addAgent(house, daemon, 'codex') };
    await decide(house, daemon, 'fleet.add', {
      name: 'up',
      run: fixtureCommand('asking'),
      sharing: 'session',
      roots: ['/projects'],
    });
    await decide(house, daemon, 'fleet.add', { name: 'all', run: [process.execPath, everything, 'stdio'], sharing: 'agent' });
    const everyone = [
      await someone(daemon, tokens.kimi, 'one'),
      await someone(daemon, tokens.kimi, 'two'),
      await someone(daemon, tokens.codex, 'three'),
    ];
    const names = ['one', 'two', 'three'];

    const asks = everyone.map(({ said }, at) =>
      said('up__ask', { method: 'sampling/createMessage', params: '{"messages":[],"maxTokens":9}', ms: 60 - 20 * at }),
    );
    expect((await Promise.all(asks)).map((text) => (JSON.parse(text) as { content: unknown }).content)).toEqual(
      names.map((name) => ({ type: 'text', text: `sampled by ${name}` })),
    );
    const form = '{"message":"Who?","requestedSchema":{"type":"object","properties":{"by":{"type":"string"}}}}';
    expect(await everyone[1]?.said('up__ask', { method: 'elicitation/create', params: form })).toBe(
      '{"action":"accept","content":{"by":"two"}}',
    );
    // Of a client's roots an upstream is told what lies in the places of its entry.
    expect(await everyone[2]?.said('up__ask', { method: 'roots/list' })).toBe('{"roots":[{"uri":"file:///projects/three"}]}');
    expect(JSON.parse((await everyone[0]?.said('up__told')) ?? '')).toMatchObject({ clientInfo: { name: 'one' } });
    await Promise.all(everyone.map(({ said }, at) => said('up__log', { data: names[at] })));
    await expect.poll(() => everyone.map(({ logged }) => logged)).toEqual(names.map((name) => [name]));

    // Listed only for clients that sample, which the session for the list says it is.
    const sampled = await everyone[2]?.said('all__trigger-sampling-request', { prompt: 'hello', maxTokens: 9 });
    expect(sampled).toContain('sampled by three');

    // Nothing outlives the daemon, however it ends.
    expect(house.processes().length).toBeGreaterThan(5);
    await daemon.kill();
    await until(() => house.processes().length === 0, 'no process is left');
  },
);
