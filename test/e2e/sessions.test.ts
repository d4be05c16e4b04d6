// Sessions that nobody ends, agents that lose their rights with sessions open, and the doors they come in by.
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connectAgent, exchange } from '../support/agent-client.ts';
import { canSeeProcesses, childrenOf, residentOf } from '../support/processes.ts';
import { addAgent, addUpstream, decide, openHouse, recorded, until } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  "*":
    capabilities:
      - match: "fix:call:*"
        effect: allow
`;

test.skipIf(!canSeeProcesses)(
  '[FLEET-5] [DOOR-1] a thousand connects without a DELETE leave no process, bounded sessions and flat memory',
  async () => {
    const house = await openHouse({ policies });
    const daemon = await house.up();
    const token = await addAgent(house, daemon, 'coder');
    await addUpstream(house, daemon, 'fix', 'echo');
    const children = childrenOf(daemon.pid).length;
    const round = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 20) {
        const agents = await Promise.all(Array.from({ length: 20 }, () => connectAgent(daemon.agent_url, token)));
        expect((await agents[0]?.call('fix__echo', { message: 'hi' }))?.text).toBe('hi');
        for (const agent of agents) agent.drop();
      }
    };
    await round(300);
    const settled = residentOf(daemon.pid);
    await round(700);
    expect(childrenOf(daemon.pid)).toHaveLength(children);
    expect(residentOf(daemon.pid) - settled).toBeLessThan(40);
    const agent = await connectAgent(daemon.agent_url, token);
    expect((await agent.call('fix__echo', { message: 'still' })).text).toBe('still');
    await agent.close();
  },
  60_000,
);

test.each(['suspend', 'revoke', 'rotate', 'remove'])(
  '[DOOR-12] sessions, streams and calls of an agent end at once with %s; those of another go on',
  async (verb) => {
    const house = await openHouse({ policies });
    const daemon = await house.up();
    const tokens = { gone: await addAgent(house, daemon, 'gone'), stays: await addAgent(house, daemon, 'stays') };
    await addUpstream(house, daemon, 'fix', 'never-answers-call');
    const gone = await connectAgent(daemon.agent_url, tokens.gone, 4);
    const stays = await connectAgent(daemon.agent_url, tokens.stays, 4);
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${tokens.gone}`, 'mcp-session-id': gone.session };
    const stream = exchange(daemon.agent_url, { method: 'GET', headers });
    const hanging = gone.call('fix__hang').catch((error: Error) => ({ text: error.message, isError: true }));
    const kept = stays.call('fix__sleep', { ms: '1500' });
    await until(async () => (await recorded(daemon, 'call.intent')).length === 2, 'both calls are under way');
    if (verb === 'suspend') await daemon.line.operate('agents.suspend', { name: 'gone' });
    else await decide(house, daemon, `agents.${verb}`, { name: 'gone' });
    expect((await stream).status).toBe(200);
    expect((await hanging).isError).toBe(true);
    const after = await gone.send('{"jsonrpc":"2.0","id":9,"method":"ping"}');
    expect(after.status).toBe(verb === 'suspend' ? 404 : 401);
    const back = await connectAgent(daemon.agent_url, tokens.gone)
      .then((agent) => agent.call('fix__cancelled'))
      .catch((error: Error) => ({ text: error.message }));
    expect(back.text).toMatch(verb === 'suspend' ? /is suspended/ : /no session: 401/);
    expect((await kept).text).toBe('slept');
    expect(JSON.parse((await stays.call('fix__cancelled')).text)).toHaveLength(1);
    await stays.close();
  },
);

test('[DOOR-3] every route of both TCP doors refuses a foreign Host and Origin', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  const [agentDoor, humanDoor] = [new URL(daemon.agent_url), new URL(daemon.human_url)];
  const routes: [URL, string, string][] = [
    ...['/mcp', '/mcp/gate', '/mcp/upstreams/fix', '/', '/nothing'].flatMap((path) =>
      ['GET', 'POST', 'DELETE', 'OPTIONS'].map((method): [URL, string, string] => [agentDoor, method, path]),
    ),
    ...['/', '/health', '/v1/operations/agents.add', '/v1/status', '/nothing'].flatMap((path) =>
      ['GET', 'POST', 'OPTIONS'].map((method): [URL, string, string] => [humanDoor, method, path]),
    ),
  ];
  for (const [door, method, path] of routes) {
    const own = { host: door.host, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    for (const foreign of [
      { host: 'evil.example' },
      { host: `evil.localhost:${door.port}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      const { status, headers } = await exchange(`http://127.0.0.1:${door.port}${path}`, {
        method,
        headers: { ...own, ...foreign },
      });
      expect([method, path, foreign, status]).toEqual([method, path, foreign, 403]);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  }
  await until(async () => (await recorded(daemon, 'door.refused')).length > 10, 'it is on the record');
});

test('[DOOR-10] [CLI-2] a taken port of either door is an error with the port and the way out; nothing is left behind', async () => {
  const house = await openHouse({ policies });
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const port = String((server.address() as { port: number }).port);
  for (const door of ['agent', 'human']) {
    const other = door === 'agent' ? 'human' : 'agent';
    const end = await house.upAndEnd({}, ['up', '--json', `--${door}-port`, port, `--${other}-port`, '0']);
    expect([end.code, end.stdout, end.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(new RegExp(`port ${port} [^]*--${door}-port`)),
    ]);
    expect(house.processes()).toEqual([]);
  }
  await new Promise((resolve) => server.close(resolve));
  const daemon = await house.up();
  const taken = await house.upAndEnd();
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('already running')]);
  expect(await daemon.stop()).toBe(0);
});

test('[CLI-2] down from another shell ends it in order while calls hang and clients are connected', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addUpstream(house, daemon, 'fix', 'never-answers-call');
  const agent = await connectAgent(daemon.agent_url, token, 4);
  const hanging = agent.call('fix__hang').catch(() => undefined);
  const idle = connect(Number(new URL(daemon.agent_url).port), '127.0.0.1').on('error', () => undefined);
  await until(async () => (await recorded(daemon, 'call.intent')).length === 1, 'the call is under way');
  const startedAt = performance.now();
  const { code, stdout } = await house.shell(['down', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, { stopped: true, pid: daemon.pid }]);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await hanging;
  idle.destroy();
  agent.drop();
  expect(house.processes()).toEqual([]);
  const again = await house.up();
  const [outcome] = await recorded(again, 'call.outcome');
  expect(['cancelled', 'unknown']).toContain(outcome?.facts?.['outcome']);
}, 40_000);
