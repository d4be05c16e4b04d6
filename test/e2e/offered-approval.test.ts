// A call that waits for a person, behind the running program and stock clients of both eras: the client is shown that a person is needed,
// and only the person's signature lets the call run.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client as StatelessClient, StreamableHTTPClientTransport as StatelessHttp } from '@modelcontextprotocol/client';
import { Client as SessionClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as SessionHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { addAgent, addUpstream, decide, openHouse, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  kimi:
    capabilities:
      - { match: "up:call:hit", effect: ask }
`;

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly options: { readonly requestInit: { readonly headers: Record<string, string> } };
  readonly hits: () => number;
}

async function scene(): Promise<Scene> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'kimi');
  const counter = house.path('hits');
  await addUpstream(house, daemon, 'up', 'counting', counter);
  return {
    house,
    daemon,
    options: { requestInit: { headers: { Authorization: `Bearer ${token}` } } },
    hits: () =>
      readFileSync(counter, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('hit')).length,
  };
}

/** As a browser reads it, which knows that names under localhost are this machine. */
async function pageAt({ host, port, pathname }: URL): Promise<string> {
  const [response] = (await once(get({ host: '127.0.0.1', port, path: pathname, headers: { host } }), 'response')) as [
    IncomingMessage,
  ];
  expect(response.statusCode).toBe(200);
  return text(response);
}

const idIn = (text: string): string => /approve ([0-9a-f-]{36})/.exec(text)?.[1] ?? '';

test('[ELICIT-1] [ELICIT-2] a session client shows the form, accepts it to no effect, and has its answer when the person signs', async () => {
  const { house, daemon, options, hits } = await scene();
  const client = new SessionClient({ name: 'old', version: '1' }, { capabilities: { elicitation: {} } });
  const messages: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    messages.push(params.message);
    return { action: 'accept', content: { wait: true } };
  });
  await client.connect(new SessionHttp(new URL(daemon.agent_url), options));
  onTestFinished(() => client.close());
  const call = client.callTool({ name: 'up__hit', arguments: { tag: 'a' } });
  await until(() => messages.length === 1, 'the form is shown');
  expect(messages[0]).toContain('"tag":"a"');
  expect(hits()).toBe(0);
  await decide(house, daemon, 'approvals.approve', { id: idIn(messages[0] ?? '') });
  expect(await call).toMatchObject({ content: [{ text: 'hit' }] });
  expect(hits()).toBe(1);
});

test('[ELICIT-1] [ELICIT-6] a client that shows links is led to the page, which says how to decide', async () => {
  const { house, daemon, options, hits } = await scene();
  const client = new SessionClient({ name: 'old', version: '1' }, { capabilities: { elicitation: { url: {} } } });
  const links: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    if (params.mode === 'url') links.push(params.url);
    return { action: 'accept' };
  });
  await client.connect(new SessionHttp(new URL(daemon.agent_url), options));
  onTestFinished(() => client.close());
  const call = client.callTool({ name: 'up__hit', arguments: { tag: 'hunter2' } });
  await until(() => links.length === 1, 'the link is shown');
  const link = new URL(links[0] ?? '');
  expect(link.origin).toBe(daemon.human_url);
  const page = await pageAt(link);
  const id = idIn(page);
  expect(page).toContain('up:call:hit');
  expect(page).not.toContain('hunter2');
  await decide(house, daemon, 'approvals.approve', { id });
  expect(await call).toMatchObject({ content: [{ text: 'hit' }] });
  expect(hits()).toBe(1);
});

test('[ELICIT-1] a client without sessions is asked within the result, and goes on with the same call', async () => {
  const { house, daemon, options, hits } = await scene();
  const client = new StatelessClient(
    { name: 'new', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  );
  const messages: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    messages.push(params.message);
    await decide(house, daemon, 'approvals.approve', { id: idIn(params.message) });
    return { action: 'accept', content: { wait: true } };
  });
  await client.connect(new StatelessHttp(new URL(daemon.agent_url), options));
  onTestFinished(() => client.close());
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(await client.callTool({ name: 'up__hit', arguments: { tag: 'a' } })).toMatchObject({ content: [{ text: 'hit' }] });
  expect([messages.length, hits()]).toEqual([1, 1]);
});
