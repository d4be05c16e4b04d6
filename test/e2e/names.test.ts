// The names of tools as an agent meets them at the door of the running program: prefixed, shortened, un-prefixed and safe.
import { expect, test } from 'vitest';
import { connectAgent, type AgentClient } from '../support/agent-client.ts';
import { addAgent, addUpstream, openHouse } from '../support/running-daemon.ts';

const server = 'company-wide-document-management-service';
const longTool = 'create_or_update_document_with_attachmen';
const short = 'company-wide-documen__create_or_update_document_with_a__b68c97bb';

const policies = `version: 1
limits: { deny: ["two:call:drop"] }
agents:
  coder:
    capabilities:
      - { match: "*:call:*", effect: allow }
`;

async function scene(settings: string) {
  const house = await openHouse({ policies, settings });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addUpstream(house, daemon, 'one', 'tools', 'search', 'Search', 'pages.find');
  await addUpstream(house, daemon, 'two', 'tools', 'search', 'drop');
  await addUpstream(house, daemon, server, 'tools', longTool);
  return { daemon, at: (path: string) => connectAgent(`${daemon.agent_url}${path}`, token) };
}

const said = async (agent: AgentClient, name: string): Promise<string> => (await agent.call(name)).text;
const proxied = async (agent: AgentClient): Promise<string[]> => (await agent.toolNames()).filter((name) => name.includes('__'));

test('[NAME-1] [NAME-5] [NAME-8] every name listed at /mcp and at /mcp/upstreams/<name> reaches its own tool', async () => {
  const { daemon, at } = await scene('');
  const all = await at('');
  const names = await proxied(all);
  expect(names).toEqual([
    short,
    expect.stringMatching(/^one__Search__[0-9a-f]{8}$/),
    'one__pages.find',
    'one__search',
    'two__search',
  ]);
  expect(await Promise.all(names.map((name) => said(all, name)))).toEqual(
    [longTool, 'Search', 'pages.find', 'search', 'search'].map((tool) => `I am ${tool}`),
  );
  expect(await said(all, `${server}__${longTool}`)).toBe(`I am ${longTool}`);

  const one = await at('/upstreams/one');
  expect((await one.toolNames()).toSorted()).toEqual(['Search', 'pages.find', 'search']);
  expect(await said(one, 'pages.find')).toBe('I am pages.find');
  expect(await said(one, 'one__search')).toBe("ERROR: Unknown tool 'one__search'");

  const two = await at('/upstreams/two');
  expect(await two.toolNames()).toEqual(['search']);
  expect((await two.call('drop')).envelope).toMatchObject({ kind: 'policy_denied' });

  const long = await at(`/upstreams/${server}`);
  expect(await long.toolNames()).toEqual([longTool]);
  expect(await said(long, longTool)).toBe(`I am ${longTool}`);
  expect(await long.call('scopegate_can_i', { capability: 'one:call:search' })).toMatchObject({ isError: true });
  for (const agent of [all, one, two, long]) await agent.close();
  expect(await daemon.stop()).toBe(0);
});

test('[NAME-3] naming: safe and longest_name in sallyport.yaml hold for the whole list, and un-prefixed names stay as they are', async () => {
  const { daemon, at } = await scene('naming: safe\nlongest_name: 48\n');
  const all = await at('');
  for (const name of await all.toolNames()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,48}$/);
  expect(await said(all, 'one__pages_find')).toBe('I am pages.find');
  expect(await said(all, 'one__pages.find')).toBe('I am pages.find');
  const one = await at('/upstreams/one');
  expect((await one.toolNames()).toSorted()).toEqual(['Search', 'pages.find', 'search']);
  for (const agent of [all, one]) await agent.close();
  expect(await daemon.stop()).toBe(0);
});
