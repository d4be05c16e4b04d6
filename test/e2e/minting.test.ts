// Minted tokens through the running program: whose they are, how long they are good for, and that neither a key nor a token comes back.
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { sizeClassOf } from '../../src/features/vault/secret-value.ts';
import { commitmentInput } from '../../src/kernel/carried-secret.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { startHttpFixture } from '../fixtures/http-server.ts';
import { startAwsSts } from '../fixtures/providers/aws-sts.ts';
import { startGithubApp } from '../fixtures/providers/github-app.ts';
import { connectAgent } from '../support/agent-client.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { addAgent, decide, openHouse, recorded, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  '*':
    default_ttl: 10m
    capabilities: [{ match: '*:call:*', effect: allow }]
`;

async function addSecret(house: House, daemon: RunningDaemon, ref: string, text: string): Promise<void> {
  const [value, salt] = [new TextEncoder().encode(text), new Uint8Array(32).fill(7)];
  const value_commitment = encodeBase64url(createHash('sha256').update(commitmentInput('value', { value, salt })).digest());
  const input = { ref, size: sizeClassOf(value.length), value_commitment };
  const statement = await daemon.line.prepare('vault.add-secret', input);
  await daemon.line.operate('vault.add-secret', input, house.operator.prove(statement), { value: { value, salt } });
}

async function opened(upstream: object, secret: string) {
  const house = await openHouse({ policies, settings: `upstreams:\n  - ${JSON.stringify(upstream)}\n` });
  const daemon = await house.up();
  await addSecret(house, daemon, 'the_key', secret);
  await decide(house, daemon, 'fleet.accept', { name: 'up' });
  const agents = await Promise.all(
    ['kimi', 'ada'].map(async (name) => connectAgent(daemon.agent_url, await addAgent(house, daemon, name))),
  );
  return { house, daemon, agents };
}

test('[MINT-11] over HTTP the requests of each agent carry a token of its own, taken back when the daemon stops', async () => {
  const github = await startGithubApp();
  const web = await startHttpFixture();
  onTestFinished(async () => void (await Promise.all([github.stop(), web.stop()])));
  const auth = { type: 'github_app', secretRef: 'the_key', appId: '4711', installationId: '815', apiUrl: github.url };
  const entry = { name: 'up', transport: { kind: 'http', url: web.url }, auth: { ...auth, repositories: ['acme/api'] } };
  const { daemon, agents } = await opened(entry, github.privateKey);
  const tokens: (string | undefined)[] = [];
  for (const agent of agents) {
    expect((await agent.call('up__echo', { message: 'hi' })).text).toBe('hi');
    tokens.push(web.seen.findLast(({ method }) => method === 'POST')?.headers.authorization?.slice('Bearer '.length));
    await agent.call('up__echo', { message: 'again' });
  }
  expect(new Set(tokens).size).toBe(2);
  for (const token of tokens) expect(github.issued.find((one) => one.token === token)?.repositories).toEqual(['api']);
  const { text } = await agents[0]!.call('scopegate_diagnose');
  expect(JSON.parse(text)).toMatchObject({ upstreams: { up: { ok: true, mode: 'minted:github_app' } } });
  const record = JSON.stringify(await recorded(daemon, 'secret.used'));
  for (const { token } of github.issued) expect(record + text + daemon.stderr()).not.toContain(token);
  await daemon.stop();
  expect(github.issued.map(({ revoked }) => revoked)).not.toContain(false);
}, 60_000);

test('[MINT-11] a program of each agent gets the keys of the role in its environment, and what it says of them is masked', async () => {
  const sts = await startAwsSts();
  onTestFinished(() => sts.stop());
  const [command, ...args] = fixtureCommand('blabs', 'AWS_SECRET_ACCESS_KEY');
  const auth = { type: 'aws_sts', secretRef: 'the_key', roleArn: sts.roleArn, region: 'eu-central-1', endpoint: sts.url };
  const entry = { name: 'up', transport: { kind: 'stdio', command, args }, sharing: 'agent', auth };
  const { agents } = await opened(entry, JSON.stringify(sts.keys));
  for (const agent of agents) {
    expect((await agent.call('up__say', { way: 'raw' })).text).toBe('it is [REDACTED:secret], really');
  }
  expect(sts.assumed.map(({ session }) => session)).toEqual(expect.arrayContaining(['sallyport-kimi', 'sallyport-ada']));
}, 60_000);

test('[MINT-5] a key that the provider does not take is told to the agent with what a person does about it', async () => {
  const github = await startGithubApp();
  const other = await startGithubApp();
  const web = await startHttpFixture();
  onTestFinished(async () => void (await Promise.all([github.stop(), other.stop(), web.stop()])));
  const auth = { type: 'github_app', secretRef: 'the_key', appId: '4711', installationId: '815', apiUrl: github.url };
  const { daemon, agents } = await opened({ name: 'up', transport: { kind: 'http', url: web.url }, auth }, other.privateKey);
  const health = JSON.stringify(await daemon.line.operate('fleet.list', {}));
  expect(health).toContain("GitHub does not take the app '4711' with the key 'the_key'");
  expect(health).not.toContain('eyJ');
  const { text } = await agents[0]!.call('scopegate_diagnose');
  expect(text).toContain('sallyport secret rotate the_key');
  expect(JSON.parse(text)).toMatchObject({ upstreams: { up: { ok: false } } });
  expect(web.seen).toEqual([]);
}, 60_000);
