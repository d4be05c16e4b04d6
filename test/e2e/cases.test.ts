// Conditions that broke comparable products, tried at the running program: forgotten sessions, late starts, full houses, tools that grow,
// logins that fail, people who take their time. What is not here is with the subject it belongs to.
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import type { HttpFixture } from '../fixtures/http-fixture.ts';
import { startHttpFixture } from '../fixtures/http-server.ts';
import { connectAgent } from '../support/agent-client.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { addAgent, addUpstream, decide, openHouse, until, type RunningDaemon } from '../support/running-daemon.ts';

const policies = 'version: 1\nagents:\n  "*":\n    capabilities:\n      - match: "*:call:*"\n        effect: allow\n';

async function fixtureOf(more: Parameters<typeof startHttpFixture>[0] = {}): Promise<HttpFixture> {
  const fixture = await startHttpFixture(more);
  onTestFinished(() => fixture.stop());
  return fixture;
}

interface Row {
  readonly name: string;
  readonly state: string;
  readonly quarantined: number;
}
const row = async ({ line }: RunningDaemon, name: string): Promise<Row | undefined> =>
  ((await line.operate('fleet.list', {})) as Row[]).find((one) => one.name === name);

test.each([
  ['HTTP 200, -32600', { status: 200, code: -32_600, message: 'Session not found' }],
  ['HTTP 400, -32600', { status: 400, code: -32_600, message: 'Bad Request: No valid session ID provided' }],
  ['HTTP 404, -32001', { status: 404, code: -32_001, message: 'Session not found' }],
  ['HTTP 400, in words of its own', { status: 400, code: -32_000, message: 'Server not initialized' }],
])(
  '[CASE-3] an upstream that forgot its sessions and says so with %s is called again, and once',
  async (_, { status, code, message }) => {
    const fixture = await fixtureOf();
    const house = await openHouse({ policies });
    const daemon = await house.up();
    await decide(house, daemon, 'fleet.add', { name: 'web', url: fixture.url });
    const agent = await connectAgent(daemon.agent_url, await addAgent(house, daemon, 'kimi'));
    expect((await agent.call('web__echo', { message: 'before' })).text).toBe('before');
    const { calls, initializes } = fixture.counts;
    fixture.lost = (asked) => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: asked?.id ?? null, error: { code, message } }),
    });
    fixture.forget();
    expect((await agent.call('web__echo', { message: 'after' })).text).toBe('after');
    expect(fixture.counts.calls - calls).toBe(1);
    expect(fixture.counts.initializes - initializes).toBeGreaterThan(0);
    expect(await row(daemon, 'web')).toMatchObject({ state: 'ready' });
    await agent.close();
  },
);

test(
  '[CASE-4] [FLEET-11] what is down when the gateway starts serves when it is started later, also to a call in its back-off',
  { timeout: 60_000 },
  async () => {
    const house = await openHouse({ policies });
    const first = await house.up();
    const token = await addAgent(house, first, 'kimi');
    const fixture = await fixtureOf();
    const down = house.path('down');
    await decide(house, first, 'fleet.add', { name: 'web', url: fixture.url });
    await decide(house, first, 'fleet.add', { name: 'pipe', run: fixtureCommand('down-while', down) });
    await first.stop();
    await fixture.stop();
    writeFileSync(down, 'down');

    const daemon = await house.up();
    const agent = await connectAgent(daemon.agent_url, token, 2);
    for (const name of ['web', 'pipe']) {
      await until(async () => (await row(daemon, name))?.state === 'backoff', `${name} was tried`);
      const { envelope } = await agent.call(`${name}__echo`, { message: 'too early' });
      expect(envelope).toMatchObject({ kind: 'upstream_down', message: expect.stringContaining(`'${name}'`) as string });
    }
    // Its tools are known and stay listed.
    expect(await agent.toolNames()).toEqual(expect.arrayContaining(['web__echo', 'pipe__echo']));
    await fixtureOf({ port: fixture.port });
    rmSync(down);
    for (const name of ['web', 'pipe']) {
      await until(async () => (await agent.call(`${name}__echo`, { message: 'here' })).text === 'here', `${name} serves`, 15_000);
    }
    await agent.close();
  },
);

test('[CASE-5] at its capacity an upstream is told as that, its tools stay listed, and those that are in go on', async () => {
  const fixture = await fixtureOf();
  const house = await openHouse({ policies });
  const daemon = await house.up();
  await decide(house, daemon, 'fleet.add', { name: 'web', url: fixture.url, maxSessions: 2 });
  await decide(house, daemon, 'fleet.add', { name: 'own', run: fixtureCommand('echo'), sharing: 'session', maxSessions: 2 });
  const token = await addAgent(house, daemon, 'kimi');
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => connectAgent(daemon.agent_url, token)));
  for (const name of ['web', 'own']) {
    for (const agent of [one, two]) expect((await agent?.call(`${name}__echo`, { message: 'in' }))?.text).toBe('in');
    expect(await three?.toolNames()).toContain(`${name}__echo`);
    const refused = await three?.call(`${name}__echo`, { message: 'no room' });
    expect(refused?.envelope?.message).toMatch(new RegExp(`'${name}' is at its capacity: 2 agent sessions`));
    expect((await one?.call(`${name}__echo`, { message: 'still' }))?.text).toBe('still');
  }
  await two?.close();
  for (const name of ['web', 'own'])
    await until(async () => (await three?.call(`${name}__echo`, { message: 'now' }))?.text === 'now', `${name} has room`);
  for (const agent of [one, three]) await agent?.close();
});

test('[CASE-6] [DOOR-8] a tool added at run time is told of, waits for a person, and is called once accepted', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  await addUpstream(house, daemon, 'grows', 'late-tools');
  const token = await addAgent(house, daemon, 'kimi');
  const client = new Client({ name: 'listening', version: '1' });
  const lists: string[][] = [];
  const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(daemon.agent_url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  onTestFinished(() => client.close());
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
    lists.push(await names());
  });
  expect(await names()).not.toContain('grows__late1');
  await client.callTool({ name: 'grows__grow' });
  await until(async () => (await row(daemon, 'grows'))?.quarantined === 1, 'it is held back');
  expect(await names()).not.toContain('grows__late1');
  expect(JSON.stringify(await client.callTool({ name: 'grows__late1' }))).toMatch(/tools review grows/);
  await decide(house, daemon, 'fleet.accept-tools', { upstream: 'grows', tool: 'late1' });
  await until(() => lists.some((list) => list.includes('grows__late1')), 'the client is told, and finds it');
  expect(await client.callTool({ name: 'grows__late1' })).toMatchObject({ content: [{ text: 'late1' }] });
});

test('[CASE-7] [TWOWAY-23] the wait for a person takes nothing from the time of the tool', { timeout: 30_000 }, async () => {
  const house = await openHouse({
    policies: policies.replace('      - match', '      - { match: "up:call:told", effect: ask }\n      - match'),
    settings: `upstreams:\n  - ${JSON.stringify({
      name: 'up',
      transport: { kind: 'stdio', command: process.execPath, args: fixtureCommand('asking').slice(1) },
      sharing: 'session',
      callTimeoutMs: 600,
    })}\n`,
  });
  const daemon = await house.up();
  await decide(house, daemon, 'fleet.accept', { name: 'up' });
  const token = await addAgent(house, daemon, 'kimi');
  const client = new Client({ name: 'slow', version: '1' }, { capabilities: { elicitation: {} } });
  let patience = 1_500;
  client.setRequestHandler(ElicitRequestSchema, async () => {
    await delay(patience);
    return { action: 'accept' as const, content: {} };
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(daemon.agent_url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  onTestFinished(() => client.close());

  // The upstream asks its client, who takes more than twice the time of the call.
  const form = '{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}';
  const asked = await client.callTool({ name: 'up__ask', arguments: { method: 'elicitation/create', params: form } });
  expect(asked).toMatchObject({ content: [{ text: '{"action":"accept","content":{}}' }] });

  // The gateway asks a person, who takes as long; only then does the time of the tool begin.
  patience = 0;
  const waits = client.callTool({ name: 'up__told' });
  await delay(1_500);
  const [open] = (await daemon.line.operate('approvals.list', {})) as { approval_id: string }[];
  await decide(house, daemon, 'approvals.approve', { id: open?.approval_id });
  expect(JSON.stringify(await waits)).toContain('clientInfo');
});

test('[CASE-8] [HTTPUP-14] a hundred looks and a failed login cost an upstream no session and the agent no 401', async () => {
  const fixture = await fixtureOf();
  const house = await openHouse({ policies });
  const daemon = await house.up();
  await decide(house, daemon, 'fleet.add', { name: 'web', url: fixture.url });
  const agent = await connectAgent(daemon.agent_url, await addAgent(house, daemon, 'kimi'));
  await agent.call('web__echo', { message: 'one session' });
  const { initializes } = fixture.counts;
  for (let times = 0; times < 50; times += 1) {
    await agent.call('scopegate_diagnose');
    await agent.toolNames();
  }
  expect(fixture.counts.initializes).toBe(initializes);
  expect(fixture.sessions.size).toBe(2);

  fixture.gate = () => ({ status: 401, headers: { 'www-authenticate': 'Bearer realm="theirs"' } });
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'web__echo', arguments: {} } });
  const answer = await agent.send(call);
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([200, undefined]);
  expect(answer.body).toContain('auth_broken');
  const seen = fixture.seen.length;
  await delay(700);
  for (let times = 0; times < 5; times += 1) expect((await agent.send(call)).status).toBe(200);
  expect(fixture.seen.length).toBe(seen);
  await agent.close();
});
