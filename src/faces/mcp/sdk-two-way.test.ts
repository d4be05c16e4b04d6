// The official clients of both lines of the SDK as those who are asked: what they answer, hear and follow in a session over HTTP.
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTestDoor, type TestDoor } from '../../../test/support/agent-door.ts';
import type { ClientHost } from '../../kernel/client-host.ts';

const requestInit = { headers: { Authorization: 'Bearer token-kimi' } };
const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const roots = [{ uri: 'file:///projects', name: 'work' }];
const sampled = { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'ü' } };

interface Peer {
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  setLevel(level: 'warning'): Promise<unknown>;
  subscribe(uri: string): Promise<unknown>;
  rootsChanged(): Promise<void>;
  /** Methods of the notices it heard. */
  readonly heard: unknown[];
  /** Signals of the elicitations it is answering; it never answers one whose message is `wait`. */
  readonly answering: AbortSignal[];
  close(): Promise<void>;
}

function elicited(message: string, signal: AbortSignal, answering: AbortSignal[]): Promise<{ action: 'accept'; content: object }> {
  answering.push(signal);
  return message === 'wait' ? new Promise(() => undefined) : Promise.resolve({ action: 'accept', content: { said: message } });
}

async function classic({ url }: TestDoor): Promise<Peer> {
  const client = new Client({ name: 'classic', version: '1' }, { capabilities });
  const heard: unknown[] = [];
  const answering: AbortSignal[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => elicited(params.message, signal, answering) as never);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ method }) => void heard.push(method));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ method }) => void heard.push(method));
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return {
    call: (name, args) => client.callTool({ name, arguments: args }),
    setLevel: (level) => client.setLoggingLevel(level),
    subscribe: (uri) => client.subscribeResource({ uri }),
    rootsChanged: () => client.sendRootsListChanged(),
    heard,
    answering,
    close: () => client.close(),
  };
}

async function modern({ url }: TestDoor): Promise<Peer> {
  const client = new ModernClient({ name: 'modern', version: '1' }, { capabilities, versionNegotiation: { mode: 'legacy' } });
  const heard: unknown[] = [];
  const answering: AbortSignal[] = [];
  client.setRequestHandler(
    'elicitation/create',
    ({ params }, { mcpReq }) => elicited(params.message, mcpReq.signal, answering) as never,
  );
  client.setRequestHandler('roots/list', () => ({ roots }));
  client.setRequestHandler('sampling/createMessage', () => sampled);
  client.setNotificationHandler('notifications/message', ({ method }) => void heard.push(method));
  client.setNotificationHandler('notifications/resources/updated', ({ method }) => void heard.push(method));
  await client.connect(new ModernHttp(url, { requestInit }));
  return {
    call: (name, args) => client.callTool({ name, arguments: args }),
    setLevel: (level) => client.setLoggingLevel(level),
    subscribe: (uri) => client.subscribeResource({ uri }),
    rootsChanged: () => client.sendRootsListChanged(),
    heard,
    answering,
    close: () => client.close(),
  };
}

describe.each<[string, (door: TestDoor) => Promise<Peer>]>([
  ['SDK v1', classic],
  ['SDK v2', modern],
])('%s', (_, connect) => {
  let door: TestDoor;
  let peer: Peer;

  beforeEach(async () => {
    door = await openTestDoor();
    door.dispatch.has = { prompts: false, resources: true, completions: false, logging: true, subscriptions: true };
    peer = await connect(door);
  });

  afterEach(async () => {
    await peer.close();
    await door.close();
  });

  test.each<[string, object, object]>([
    [
      'elicitation/create',
      { message: 'name?', requestedSchema: { type: 'object', properties: { said: { type: 'string' } } } },
      { action: 'accept', content: { said: 'name?' } },
    ],
    ['sampling/createMessage', { maxTokens: 1, messages: [] }, sampled],
    ['roots/list', {}, { roots }],
    ['ping', {}, {}],
  ])('[TWOWAY-2] [TWOWAY-3] %s in the middle of a call is answered, and the call goes on', async (method, params, answer) => {
    expect(await peer.call('up__asks', { method, params })).toMatchObject({ result: answer });
  });

  test('[TWOWAY-3] what it cannot do is its own error', async () => {
    expect(await peer.call('up__asks', { method: 'vendor/ask' })).toMatchObject({ error: { code: -32601 } });
  });

  test('[TWOWAY-6] a request that is taken back ends at the client', async () => {
    const host = await hostOf();
    const abort = new AbortController();
    const params = JSON.stringify({ message: 'wait', requestedSchema: { type: 'object', properties: {} } });
    const asked = host.ask({ method: 'elicitation/create', params, signal: abort.signal });
    await expect.poll(() => peer.answering.length).toBe(1);
    abort.abort();
    await expect(asked).rejects.toMatchObject({ code: 'fleet.cancelled' });
    await expect.poll(() => peer.answering[0]?.aborted).toBe(true);
  });

  test('[TWOWAY-9] [TWOWAY-10] [TWOWAY-11] [TWOWAY-12] it sets a level, follows a resource, says that roots changed, and hears', async () => {
    await peer.setLevel('warning');
    await peer.subscribe('a:b');
    await peer.rootsChanged();
    expect(door.dispatch.levels).toMatchObject([{ level: 'warning' }]);
    await expect.poll(() => door.dispatch.rootsOf.length).toBe(1);
    const { host, uri } = door.dispatch.followed[0]!.request;
    host.notify('notifications/resources/updated', JSON.stringify({ uri }));
    await expect.poll(() => peer.heard).toEqual(['notifications/resources/updated']);
    host.notify('notifications/message', JSON.stringify({ level: 'error', data: 'd' }));
    await expect.poll(() => peer.heard.length).toBe(2);
  });

  async function hostOf(): Promise<ClientHost> {
    await peer.call('up__echo', {});
    const { host } = door.dispatch.calls[0]!.call;
    expect(host).toMatchObject({ capabilities, info: { version: '1' } });
    return host!;
  }
});
