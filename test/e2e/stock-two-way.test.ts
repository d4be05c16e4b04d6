// The official clients of both lines and eras, asked and told by a stock server behind the program: elicitation, sampling, roots, log
// messages, followed resources, completion. Over a process of its own for each session, and over HTTP.
import { mkdirSync } from 'node:fs';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandOf, interop, listening, stockServers } from '../support/interop-servers.ts';
import { addAgent, decide, openHouse } from '../support/running-daemon.ts';

const policies = 'version: 1\nagents:\n  "*":\n    capabilities:\n      - match: "*:{call,read,prompt}:*"\n        effect: allow\n';
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };
const sampled = { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'two doors' } };
const roots = { roots: [{ uri: 'file:///projects/here', name: 'here' }, { uri: 'file:///elsewhere' }] };
const accepted = { action: 'accept' as const, content: { name: 'Ada', check: true } };

type Said = (tool: string, args?: Record<string, unknown>) => Promise<string>;

interface Someone {
  readonly said: Said;
  readonly complete: (value: string) => Promise<readonly string[]>;
  /** Those of 2026-07-28 say a level with each request, and follow by a subscription. */
  readonly session?: { setLevel(level: 'debug'): Promise<unknown>; follow(uri: string): Promise<unknown> };
  /** Methods of the notices it heard. */
  readonly heard: string[];
}

const texts = (content: unknown): string => (content as { text?: string }[]).map(({ text = '' }) => text).join('\n');
const completion = (value: string) => ({
  ref: { type: 'ref/prompt' as const, name: 'completable-prompt' },
  argument: { name: 'department', value },
});

async function one(url: URL, requestInit: RequestInit): Promise<Someone> {
  const client = new ClientV1({ name: 'one', version: '1' }, { capabilities });
  const heard: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, () => accepted);
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ListRootsRequestSchema, () => roots);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ method }) => void heard.push(method));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ method }) => void heard.push(method));
  await client.connect(new HttpV1(url, { requestInit }));
  onTestFinished(() => client.close());
  return {
    said: async (name, args = {}) => texts((await client.callTool({ name, arguments: args })).content),
    complete: async (value) => (await client.complete(completion(value))).completion.values,
    session: { setLevel: (level) => client.setLoggingLevel(level), follow: (uri) => client.subscribeResource({ uri }) },
    heard,
  };
}

function two(mode: 'legacy' | 'auto') {
  return async (url: URL, requestInit: RequestInit): Promise<Someone> => {
    const client = new ClientV2({ name: 'two', version: '1' }, { capabilities, versionNegotiation: { mode } });
    const heard: string[] = [];
    client.setRequestHandler('elicitation/create', () => accepted);
    client.setRequestHandler('sampling/createMessage', () => sampled);
    client.setRequestHandler('roots/list', () => roots);
    client.setNotificationHandler('notifications/message', ({ method }) => void heard.push(method));
    client.setNotificationHandler('notifications/resources/updated', ({ method }) => void heard.push(method));
    await client.connect(new HttpV2(url, { requestInit }));
    onTestFinished(() => client.close());
    const someone: Someone = {
      said: async (name, args = {}) => texts((await client.callTool({ name, arguments: args })).content),
      complete: async (value) => (await client.complete(completion(value))).completion.values,
      heard,
    };
    if (mode === 'auto') return someone;
    const session = {
      setLevel: (level: 'debug') => client.setLoggingLevel(level),
      follow: (uri: string) => client.subscribeResource({ uri }),
    };
    return { ...someone, session };
  };
}

describe.skipIf('reason' in interop)('a stock server', () => {
  test.each(['over stdio', 'over HTTP'])(
    '[INTEROP-4] %s asks, tells and completes for clients of both lines and eras',
    { timeout: 90_000 },
    async (way) => {
      const house = await openHouse({ policies });
      const daemon = await house.up();
      mkdirSync(house.path('scratch'));
      const everything = stockServers(house.path('scratch'), undefined)[0]!;
      const entry =
        way === 'over stdio'
          ? { run: commandOf(everything), sharing: 'session' }
          : { url: await listening(everything, house.folder) };
      await decide(house, daemon, 'fleet.add', { name: 'all', ...entry, roots: ['/projects'] });
      const requestInit = { headers: { Authorization: `Bearer ${await addAgent(house, daemon, 'kimi')}` } };
      const url = new URL(`${daemon.agent_url}/upstreams/all`);

      for (const connect of [one, two('legacy'), two('auto')]) {
        const { said, complete, session, heard } = await connect(url, requestInit);
        expect(await said('echo', { message: 'hi' })).toBe('Echo: hi');
        expect(await said('trigger-elicitation-request')).toMatch(/User provided the requested information[^]*Ada/);
        expect(await said('trigger-sampling-request', { prompt: 'what is a sally port', maxTokens: 9 })).toContain('two doors');
        const places = await said('get-roots-list');
        expect(places).toContain('file:///projects/here');
        expect(places).not.toContain('elsewhere');
        expect(await complete('S')).toEqual(['Sales', 'Support']);
        if (session === undefined) continue;
        await session.setLevel('debug');
        await said('toggle-simulated-logging');
        await expect.poll(() => heard).toContain('notifications/message');
        await session.follow('demo://resource/dynamic/text/1');
        await said('toggle-subscriber-updates');
        await expect.poll(() => heard, { timeout: 8_000 }).toContain('notifications/resources/updated');
      }
      expect(await daemon.stop()).toBe(0);
    },
  );
});
