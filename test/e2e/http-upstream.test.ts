// Upstreams over HTTP behind the running program: whose session is whose, what arrives as it was sent, and what is left behind.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HttpFixture } from '../fixtures/http-fixture.ts';
import { startHttpFixture } from '../fixtures/http-server.ts';
import { oddResult } from '../fixtures/odd-result.ts';
import { connectAgent, exchange } from '../support/agent-client.ts';
import { addAgent, decide, openHouse, recorded, until } from '../support/running-daemon.ts';

const policies = 'version: 1\nagents:\n  "*":\n    capabilities:\n      - match: "*:call:*"\n        effect: allow\n';

async function fixtureOf(more: Parameters<typeof startHttpFixture>[0] = {}): Promise<HttpFixture> {
  const fixture = await startHttpFixture(more);
  onTestFinished(() => fixture.stop());
  return fixture;
}

const meta = (capabilities: object = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': capabilities,
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
});

/** One request of 2026-07-28; the body of its answer. */
async function ask(url: string, token: string, name: string, params: object = {}, capabilities = {}): Promise<string> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: {}, ...params, _meta: meta(capabilities) },
  });
  const answer = await exchange(url, {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body,
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('an upstream over HTTP', () => {
  test('[HTTPUP-12] gives each agent session its own login, ended with that session, and stateless callers one each', async () => {
    const fixture = await fixtureOf();
    const house = await openHouse({ policies });
    const daemon = await house.up();
    const added = await decide(house, daemon, 'fleet.add', { name: 'web', url: fixture.url });
    expect(added).toMatchObject({ connection: { ok: true } });
    const [kimi, ada] = [await addAgent(house, daemon, 'kimi'), await addAgent(house, daemon, 'ada')];

    const [one, two] = [await connectAgent(daemon.agent_url, kimi), await connectAgent(daemon.agent_url, ada)];
    await one.call('web__login', { user: 'kimi' });
    await two.call('web__login', { user: 'ada' });
    expect((await one.call('web__whoami')).text).toBe('kimi');
    expect((await two.call('web__whoami')).text).toBe('ada');
    const odd = await one.send(JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'web__odd' } }));
    expect(odd.body).toContain(oddResult);
    expect(fixture.sessions.size).toBe(3);

    await one.close();
    await until(() => fixture.sessions.size === 2, 'the upstream session of the first agent session is ended');
    expect((await two.call('web__whoami')).text).toBe('ada');

    const before = fixture.counts.initializes;
    for (let times = 0; times < 5; times += 1) await ask(daemon.agent_url, kimi, 'web__echo');
    expect(fixture.counts.initializes - before).toBe(1);

    await decide(house, daemon, 'agents.revoke', { name: 'ada' });
    await until(() => fixture.sessions.size === 2, 'the sessions of a revoked agent are ended upstream too');
    expect(await daemon.stop()).toBe(0);
    expect(fixture.sessions.size).toBe(0);
    two.drop();
  });

  test('[HTTPUP-11] of 2026-07-28 asks a caller of that revision back and is answered, in words nobody touched', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const house = await openHouse({ policies });
    const daemon = await house.up();
    await decide(house, daemon, 'fleet.add', { name: 'web', url: fixture.url });
    const token = await addAgent(house, daemon, 'kimi');
    const capabilities = { elicitation: { form: {} } };

    const asked = await ask(daemon.agent_url, token, 'web__asks', {}, capabilities);
    expect(asked).toContain(
      '"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create"}},"requestState":"stäte"}',
    );
    expect(fixture.seen.at(-1)?.message?.params?._meta).toMatchObject(meta(capabilities));
    const again = { inputResponses: { q: { action: 'accept', content: { n: 1 } } }, requestState: 'stäte' };
    const answered = JSON.parse(await ask(daemon.agent_url, token, 'web__asks', again, capabilities)) as {
      result: { content: { text: string }[] };
    };
    expect(JSON.parse(answered.result.content[0]?.text ?? '')).toEqual(again);

    const old = await connectAgent(daemon.agent_url, token);
    expect((await old.call('web__echo', { message: 'hi' })).text).toBe('hi');
    expect((await old.call('web__asks')).envelope?.message).toContain('asked for further input and did not get it');
    await old.close();
    expect(fixture.counts.initializes).toBe(0);
  });

  test('[HTTPUP-17] that refuses the login is auth_broken to agents, and left alone', async () => {
    const fixture = await fixtureOf();
    const house = await openHouse({ policies });
    const daemon = await house.up();
    await decide(house, daemon, 'fleet.add', { name: 'web', url: fixture.url });
    const agent = await connectAgent(daemon.agent_url, await addAgent(house, daemon, 'kimi'));
    fixture.gate = () => ({ status: 401 });
    expect((await agent.call('web__echo')).envelope).toMatchObject({ kind: 'auth_broken' });
    await until(async () => (await recorded(daemon, 'call.outcome')).length > 0, 'the outcome is on the record');
    const seen = fixture.seen.length;
    const told = await agent.call('web__echo');
    expect(told.envelope).toMatchObject({ kind: 'auth_broken', next_action: 'human' });
    expect(told.text).toContain('sallyport upstream retry web');
    expect(fixture.seen).toHaveLength(seen);
    expect(await daemon.line.operate('fleet.list', {})).toMatchObject([{ name: 'web', state: 'login_needed', kind: 'http' }]);
    fixture.gate = () => undefined;
    expect(await daemon.line.operate('fleet.retry', { name: 'web' })).toMatchObject({ ok: true });
    expect((await agent.call('web__echo', { message: 'back' })).text).toBe('back');
    await agent.close();
  });
});
