// The official client of 2026-07-28 at the running program, with an upstream of 2025 behind it that asks in the middle of its calls.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { addAgent, decide, openHouse, recorded } from '../support/running-daemon.ts';
import { envelope, statelessAsk, type Params } from '../support/stateless-agent.ts';

const policies = `version: 1
agents:
  kimi:
    capabilities:
      - match: "up:call:*"
        effect: allow
`;

test('[PARK-1] [PARK-2] the official client answers what an upstream of 2025 asks, once, on the record; a replay runs nothing', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'kimi');
  await decide(house, daemon, 'fleet.add', { name: 'up', run: fixtureCommand('asking'), sharing: 'session' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const client = new Client(
    { name: 'new', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  );
  const shown: unknown[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    shown.push(params.message);
    return { action: 'accept', content: { ok: true } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(daemon.agent_url), { requestInit }));
  onTestFinished(() => client.close());

  const form = { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } };
  const ask = { name: 'up__ask', arguments: { method: 'elicitation/create', params: form } };
  const { content } = await client.callTool(ask);
  expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual({ action: 'accept', content: { ok: true } });
  expect(shown).toEqual([expect.stringContaining('Sure?')]);
  expect(await recorded(daemon, 'call.intent')).toHaveLength(1);

  const door = { url: new URL(daemon.agent_url) };
  const _meta = envelope({ 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } });
  const say = (more: Params): ReturnType<typeof statelessAsk> =>
    statelessAsk(door, 'tools/call', { ...ask, _meta, ...more }, { token });
  const first = await say({});
  const { requestState, inputRequests } = first.reply.result ?? {};
  expect(inputRequests).toMatchObject({ 'ask-1': { method: 'elicitation/create' } });
  const again = { requestState, inputResponses: { 'ask-1': { action: 'decline' } } };
  expect((await say(again)).body).toContain('decline');
  expect((await say(again)).reply.error?.code).toBe(-32602);
  expect(await recorded(daemon, 'call.intent')).toHaveLength(2);
  expect(await recorded(daemon, 'ask.relayed')).toHaveLength(2);
}, 60_000);
