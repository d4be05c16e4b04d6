// What a broken, hostile or mistaken caller sends to the running program: a clear answer each time, and the good caller beside it
// notices nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type NetConnectOpts } from 'node:net';
import { expect, test } from 'vitest';
import { connectAgent, exchange, type AgentClient } from '../support/agent-client.ts';
import { residentOf } from '../support/processes.ts';
import { addAgent, addUpstream, openHouse, recorded, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  coder:
    capabilities:
      - match: "fix:call:echo"
        effect: allow
`;

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly token: string;
  readonly agent: AgentClient;
}

async function scene(): Promise<Scene> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addUpstream(house, daemon, 'fix', 'echo');
  return { house, daemon, token, agent: await connectAgent(daemon.agent_url, token) };
}

/** The good caller beside it. */
async function unharmed({ daemon, token }: Pick<Scene, 'daemon' | 'token'>): Promise<void> {
  const agent = await connectAgent(daemon.agent_url, token);
  expect(await agent.call('fix__echo', { message: 'here' })).toMatchObject({ text: 'here', isError: false });
  await agent.close();
}

const call = (args: string): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fix__echo","arguments":${args}}}`;

test('[DOOR-4] malformed JSON-RPC of every kind gets an error that names it, and nothing is called', async () => {
  const all = await scene();
  const before = (await recorded(all.daemon, 'call.intent')).length;
  const bodies: [string, number][] = [
    ['', 400],
    ['{', 400],
    ['nonsense', 400],
    ['[]', 400],
    ['"text"', 400],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 400],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', 400],
    [call('{"message":"a","message":"b"}'), 400],
    [call('{"message":"a","nested":{"x":1,"\\u0078":2}}'), 400],
    [call('{"n":12345678901234567890}'), 400],
    [call('{"n":1e999}'), 400],
    [call(`${'['.repeat(5_000)}${']'.repeat(5_000)}`), 400],
    [call('{"message":"\\ud800"}'), 400],
  ];
  for (const [body, status] of bodies) {
    const answer = await all.agent.send(body);
    expect([body.slice(0, 60), answer.status, JSON.parse(answer.body)]).toEqual([
      body.slice(0, 60),
      status,
      expect.objectContaining({ error: expect.objectContaining({ message: expect.stringMatching(/.{10}/) as string }) as object }),
    ]);
  }
  const wrong = await all.agent.rpc('tools/call', { name: 'fix__echo', arguments: 'text' });
  expect(wrong.error?.code).toBe(-32602);
  expect((await all.agent.rpc('no/such/method')).error?.code).toBe(-32601);
  expect((await all.agent.call('fix__nothing')).text).toMatch(/^ERROR: Unknown tool/);
  expect((await recorded(all.daemon, 'call.intent')).length).toBe(before);
  await unharmed(all);
});

test('[DOOR-4] a body of 100 MB is refused while it comes, on every door, and costs no memory', async () => {
  const all = await scene();
  const before = residentOf(all.daemon.pid);
  const { host, port } = new URL(all.daemon.agent_url);
  const human = new URL(all.daemon.human_url);
  const head = (target: string, name: string, more: string): string =>
    `POST ${target} HTTP/1.1\r\nHost: ${name}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${more}`;
  const token = `Authorization: Bearer ${all.token}\r\nMcp-Session-Id: ${all.agent.session}\r\n`;
  const length = `Content-Length: ${100 << 20}\r\n\r\n`;
  const chunked = `Transfer-Encoding: chunked\r\n\r\n`;
  const answers = await Promise.all([
    flood({ port: Number(port) }, head('/mcp', host, token + length)),
    flood({ port: Number(port) }, head('/mcp', host, token + chunked), true),
    flood({ port: Number(human.port) }, head('/v1/operations/agents.add', human.host, length)),
    flood({ path: all.daemon.socket }, head('/v1/operations/agents.add', 'sallyport', chunked), true),
  ]);
  expect(answers.map((answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])).toEqual(['413', '413', '400', '400']);
  for (const answer of answers) expect(answer).toMatch(/large|longer than/);
  expect(residentOf(all.daemon.pid) - before).toBeLessThan(120);
  await unharmed(all);
}, 60_000);

test('[DOOR-2] [DOOR-3] a wrong token, Host or Origin is refused and on the record, without the token', async () => {
  const all = await scene();
  const { host, origin } = new URL(all.daemon.agent_url);
  const good = {
    host,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${all.token}`,
  };
  const status = async (headers: Record<string, string>) =>
    (await exchange(`${origin}/mcp`, { headers: { ...good, ...headers }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }))
      .status;
  expect(await status({ authorization: 'Bearer sp_secretguess' })).toBe(401);
  expect(await status({ authorization: all.token })).toBe(401);
  expect(await status({ authorization: `Basic ${Buffer.from(`coder:${all.token}`).toString('base64')}` })).toBe(401);
  expect(await status({ host: 'evil.example' })).toBe(403);
  expect(await status({ host: host.replace('127.0.0.1', '127.0.0.2') })).toBe(403);
  expect(await status({ origin: 'https://evil.example' })).toBe(403);
  expect(await status({ origin: 'null' })).toBe(403);
  const refusals = await recorded(all.daemon, 'door.refused');
  expect(refusals.map(({ facts }) => facts?.['reason'])).toEqual(
    expect.arrayContaining(['unknown_token', 'no_token', 'wrong_host', 'wrong_origin']),
  );
  expect(JSON.stringify(refusals)).not.toContain('secretguess');
  expect(JSON.stringify(refusals)).not.toContain(all.token);
  await unharmed(all);
});

test('[POL-5] a typo in the policy: at the first start everything is denied, hot the last good text stays; both say line and meaning', async () => {
  const typo = policies.replace('effect:', 'efect:');
  const house = await openHouse({ policies: typo });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addUpstream(house, daemon, 'fix', 'echo');
  const agent = await connectAgent(daemon.agent_url, token);
  expect((await agent.call('fix__echo', { message: 'x' })).envelope?.message).toMatch(/denied|No policy/);
  const checked = await house.shell(['policies', 'check']);
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringMatching(/6[^]*efect[^]*effect/)]);
  writeFileSync(house.path('policies.yaml'), policies);
  const { stdout, code } = await house.shell(['policies', 'check']);
  expect([code, stdout]).toEqual([1, expect.stringContaining('policies adopt')]);
  await agent.close();

  const all = await scene();
  writeFileSync(all.house.path('policies.yaml'), typo);
  await until(async () => (await recorded(all.daemon, 'policy.refused')).length > 0, 'the typo is on the record');
  expect((await recorded(all.daemon, 'policy.refused'))[0]).toMatchObject({ facts: { reason: 'invalid' } });
  expect(all.daemon.stderr()).toMatch(/line 6[^"]*efect/);
  await unharmed(all);
  await all.daemon.stop();
  const again = await all.house.up();
  await unharmed({ daemon: again, token: all.token });
});

test('[CLI-1] a settings file that cannot be used is refused at the start, with file and key, and hot it changes nothing', async () => {
  const house = await openHouse({ settings: 'version: 1\nlisteners:\n  agent_prot: 1\n' });
  const end = await house.upAndEnd();
  expect([end.code, end.stderr]).toEqual([1, expect.stringMatching(/sallyport\.yaml[^]*agent_prot/)]);
  const all = await scene();
  const settings = readFileSync(all.house.path('sallyport.yaml'), 'utf8');
  for (const broken of ['upstreams: [', '- a\n- b\n', 'upstreams: 7\n', `${settings}upstreams: []\n`]) {
    writeFileSync(all.house.path('sallyport.yaml'), broken);
    await until(() => all.daemon.stderr().split('sallyport.yaml is not used').length > 1, 'it is said');
    await unharmed(all);
  }
});

/** Sends a head and up to 100 MB until the other side answers or hangs up; what it said. */
function flood(where: { port: number } | { path: string }, head: string, chunked = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', ...where } as NetConnectOpts);
    const chunk = Buffer.alloc(1 << 20, 'x');
    const piece = chunked ? Buffer.concat([Buffer.from('100000\r\n'), chunk, Buffer.from('\r\n')]) : chunk;
    let said = '';
    let sent = 0;
    const pump = (): void => {
      if (said !== '' || sent === 100 || socket.destroyed) return;
      sent += 1;
      if (socket.write(piece)) setImmediate(pump);
      else socket.once('drain', pump);
    };
    socket.on('connect', () => {
      socket.write(head);
      pump();
    });
    socket.on('data', (data) => (said += data.toString()));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(said));
    setTimeout(() => socket.destroy(), 20_000).unref();
  });
}
