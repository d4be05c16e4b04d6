// An agent that holds its token, and everything it can reach: its own MCP door, the human door, and the local socket of the same
// user. No operation of the operator is behind any of them for it.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { connectAgent, exchange, type AgentClient } from '../support/agent-client.ts';
import { addAgent, addUpstream, openHouse, recorded, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
limits:
  deny: ["fix:call:refuses"]
agents:
  coder:
    capabilities:
      - match: "fix:call:write_note"
        effect: ask
      - match: "fix:call:echo"
        effect: allow
`;

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly agent: AgentClient;
  readonly token: string;
  readonly operations: readonly { name: string; access: string }[];
}

async function scene(): Promise<Scene> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addAgent(house, daemon, 'other');
  await addUpstream(house, daemon, 'fix', 'echo');
  const { operations } = JSON.parse(await atSocket(daemon.socket, 'GET', '/v1/operations', {})) as Pick<Scene, 'operations'>;
  return { house, daemon, agent: await connectAgent(daemon.agent_url, token), token, operations };
}

test('[SEC-2] no operation of the operator or of the socket is a tool, under any of its names', async () => {
  const { daemon, agent, operations } = await scene();
  const listed = await agent.toolNames();
  for (const { name } of operations) {
    for (const tool of [
      name,
      name.replace('.', '_'),
      `sallyport__${name}`,
      `scopegate_${name.replace(/^.*\./, '')}`,
      `operator__${name}`,
    ]) {
      expect(listed).not.toContain(tool);
      const { isError, text } = await agent.call(tool, {});
      expect([tool, isError, text]).toEqual([tool, true, expect.stringMatching(/Unknown tool|not granted/)]);
    }
  }
  expect(((await daemon.line.operate('agents.list', {})) as unknown[]).length).toBe(2);
  const refusals = await recorded(daemon, 'call.refused');
  expect(refusals.some(({ facts }) => facts?.['code'] === 'gateway.unknown_tool')).toBe(true);
  await agent.close();
});

test('[SEC-2] the token is no key to the human door, nor to another path, method or agent of its own', async () => {
  const { daemon, token, agent, operations } = await scene();
  const { host, port } = new URL(daemon.human_url);
  const headers = { host, 'content-type': 'application/json', authorization: `Bearer ${token}` };
  for (const { name, access } of operations) {
    const { status } = await exchange(`http://127.0.0.1:${port}/v1/operations/${name}`, { headers, body: '{"input":{}}' });
    expect([name, status]).toEqual([name, access === 'operator' ? 401 : 404]);
  }
  const agentDoor = new URL(daemon.agent_url);
  for (const path of [
    '/v1/operations/agents.add',
    '/v1/status',
    '/mcp/../v1/status',
    '/mcp/operator',
    '/mcp/upstreams/',
    '/metrics',
    '/',
  ]) {
    const answer = await exchange(`${agentDoor.origin}${path}`, {
      headers: { ...headers, host: agentDoor.host },
      body: '{"input":{}}',
    });
    expect([path, answer.status]).toEqual([path, 404]);
  }
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
    expect((await exchange(daemon.agent_url, { method, headers: { ...headers, host: agentDoor.host } })).status).toBe(405);
  }
  const forged = { authorization: 'Bearer sp_forged', 'x-agent': 'other', 'x-forwarded-user': 'operator' };
  expect((await agent.send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', forged)).status).toBe(401);
  await agent.close();
});

test('[SEC-2] what is for agents only is not served at the socket, and a token is nothing there', async () => {
  const { daemon, token } = await scene();
  const agents = ['gateway.request-capability', 'gateway.can-i', 'grants.list', 'policy.digest', 'fleet.health', 'fleet.diagnose'];
  for (const name of agents) {
    const input = { capability: 'fix:call:write_note', reason: 'mine' };
    await expect(daemon.line.operate(name, input)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(daemon.line.prepare(name, input)).rejects.toMatchObject({ kind: 'not_found' });
  }
  const answer = await atSocket(
    daemon.socket,
    'POST',
    '/v1/operations/agents.add',
    { authorization: `Bearer ${token}` },
    '{"input":{"name":"mine"}}',
  );
  expect(answer).toContain('operator.proof_required');
});

test('[SEC-2] [POL-2] an agent widens nothing by asking: patterns, alternatives and denied capabilities', async () => {
  const { daemon, agent } = await scene();
  const ask = async (capability: string) => agent.call('scopegate_request_capability', { capability, reason: 'please' });
  for (const capability of [
    'fix:call:{echo,pid}',
    'fix:call:ech?',
    'fix:call:[e]cho',
    'fix:call:!pid',
    'fix:call:e*o',
    'fix:call:echo\u200b',
    'FIX:call:echo',
    '*',
    'fix',
  ]) {
    const { text, isError } = await ask(capability);
    expect([capability, isError && text.startsWith('ERROR: ')]).toEqual([capability, true]);
  }
  expect(JSON.parse((await ask('fix:call:*')).text)).toMatchObject({ granted: false });
  expect(JSON.parse((await ask('*:*:*')).text)).toMatchObject({ granted: false });
  expect(JSON.parse((await ask('fix:call:refuses')).text)).toMatchObject({ granted: false });
  expect(JSON.parse((await ask('sallyport:register:evil')).text)).toMatchObject({ granted: false });
  const granted = (await daemon.line.operate('grants.survey', {})) as { capability: string }[];
  expect(granted.map(({ capability }) => capability)).toEqual([]);
  expect(await agent.call('fix__pid')).toMatchObject({ isError: true });
  expect((await recorded(daemon, 'call.refused'))[0]).toMatchObject({ actor: 'agent:coder', facts: { code: 'policy.denied' } });
  await agent.close();
});

test('[SEC-2] an agent does not decide its own question, nor take up the session of another', async () => {
  const { daemon, agent, house } = await scene();
  await agent.call('fix__write_note', { note: 'mine' });
  const [open] = (await daemon.line.operate('approvals.list', {})) as { approval_id: string }[];
  const id = open?.approval_id ?? '';
  await expect(daemon.line.operate('approvals.approve', { id })).rejects.toMatchObject({ code: 'operator.proof_required' });
  const rival = await addAgent(house, daemon, 'rival');
  const stolen = await exchange(daemon.agent_url, {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${rival}`,
      'mcp-session-id': agent.session,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fix__echo","arguments":{}}}',
  });
  expect(stolen.status).toBe(404);
  await until(async () => (await recorded(daemon, 'operation.refused')).length === 1, 'the attempt is on the record');
  await agent.close();
});

function atSocket(
  socketPath: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers: { 'content-type': 'application/json', ...headers } }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve(text));
    });
    sent.on('error', reject).end(body);
  });
}
