// Agents of both protocol eras at the running program, with a real upstream of 2025 behind it: one policy, one record, one fleet.
import { Client as StatelessClient, StreamableHTTPClientTransport as StatelessHttp } from '@modelcontextprotocol/client';
import { Client as SessionClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as SessionHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { oddResult } from '../fixtures/odd-result.ts';
import { addAgent, addUpstream, openHouse, recorded } from '../support/running-daemon.ts';
import { envelope, statelessAsk, statelessStream } from '../support/stateless-agent.ts';

const policies = `version: 1
agents:
  kimi:
    capabilities:
      - match: "up:call:{echo,odd,params}"
        effect: allow
    limits:
      deny: ["up:call:fail*"]
`;

test('[ERA-1] [ERA-2] [DOOR-12] a session and a stateless client see one list, meet one policy and stand on one record', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'kimi');
  await addUpstream(house, daemon, 'up', 'echo');
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const url = new URL(daemon.agent_url);

  const session = new SessionClient({ name: 'old', version: '1' });
  await session.connect(new SessionHttp(url, { requestInit }));
  const stateless = new StatelessClient({ name: 'new', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await stateless.connect(new StatelessHttp(url, { requestInit }));
  onTestFinished(async () => {
    await Promise.all([session.close(), stateless.close()]);
  });
  expect(stateless.getNegotiatedProtocolVersion()).toBe('2026-07-28');

  const [before, after] = [await session.listTools(), await stateless.listTools()];
  expect(after.tools.map(({ name }) => name)).toEqual(before.tools.map(({ name }) => name));
  expect(after.tools.map(({ name }) => name)).toContain('up__echo');
  expect(after.tools.map(({ name }) => name)).not.toContain('up__fails');

  const call = { name: 'up__echo', arguments: { message: 'ü' } };
  const answers = [await session.callTool(call), await stateless.callTool(call)];
  expect(answers[1]?.content).toEqual(answers[0]?.content);
  expect(await stateless.callTool({ name: 'up__nowhere', arguments: {} })).toMatchObject({ isError: true });
  const intents = await recorded(daemon, 'call.intent');
  expect(intents.map(({ actor, facts }) => [actor, facts?.['capability']])).toEqual([
    ['agent:kimi', 'up:call:echo'],
    ['agent:kimi', 'up:call:echo'],
  ]);

  const door = { url };
  const odd = await statelessAsk(door, 'tools/call', { name: 'up__odd' }, { token });
  expect(odd.body).toBe(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",${oddResult.slice(1)}}`);
  const forwarded = await statelessAsk(
    door,
    'tools/call',
    { name: 'up__params', _meta: envelope({ traceparent: '00-1' }) },
    { token },
  );
  const [content] = (forwarded.reply.result?.['content'] ?? []) as { text: string }[];
  expect(JSON.parse(content?.text ?? '')).toEqual({ name: 'params', _meta: { traceparent: '00-1' } });

  const stream = await statelessStream(
    door,
    'subscriptions/listen',
    { notifications: { toolsListChanged: true } },
    { id: 's', token },
  );
  await expect.poll(() => stream.messages.length).toBe(1);
  expect((await house.shell(['agent', 'suspend', 'kimi'])).code).toBe(0);
  await stream.ended;
  expect(stream.messages.at(-1)).toMatchObject({ id: 's', result: { resultType: 'complete' } });
  const refused = await statelessAsk(door, 'tools/call', call, { token });
  expect(refused.reply.result).toMatchObject({ resultType: 'complete', isError: true });
  expect(await recorded(daemon, 'call.intent')).toHaveLength(4);
}, 60_000);
