// Registration as an attack on the real program: an agent that wants code to run, a secret to come to it, or a name to become its own.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildIndex, makeKey, signIndex } from '../../scripts/sign-registry.ts';
import { connectAgent, type AgentClient } from '../support/agent-client.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { canSeeProcesses } from '../support/processes.ts';
import { addAgent, addUpstream, decide, openHouse, recorded, type House } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  '*':
    capabilities:
      - { match: '*:*:*', effect: allow }
`;
const tool = 'scopegate_register_upstream';
const canary = 'canary-of-the-registered-secret';

const byFile = (house: House) => ({ SALLYPORT_OPERATOR_PASSPHRASE_FILE: house.passphraseFile });

/** A listener on loopback that keeps what it is sent. */
async function listener() {
  const heard: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    heard.push(JSON.stringify(request.headers));
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  server.on('connection', () => (connections += 1));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/mcp`, heard, connections: () => connections };
}

async function propose(agent: AgentClient, args: object): Promise<string> {
  const { text } = await agent.call(tool, args);
  const { approval_id: id } = JSON.parse(text) as { approval_id?: string };
  if (id === undefined) throw new Error(`nobody is asked: ${text}`);
  return id;
}

test('[REG-4] [REG-7] W1: no shell runs, no secret travels and no name changes hands before a signature', async () => {
  const house = await openHouse({ policies, seat: 'file' });
  const daemon = await house.up();
  const { stdout } = await house.shell(['agent', 'add', 'coder', '--json'], byFile(house));
  await house.shell(['secret', 'add', 'github_token'], byFile(house), canary);
  const [command, ...args] = fixtureCommand('echo');
  await house.shell(['upstream', 'add', 'github', '--', command, ...args], byFile(house));
  const before = readFileSync(house.path('sallyport.yaml'), 'utf8');
  const processes = house.processes().length;
  const agent = await connectAgent(daemon.agent_url, (JSON.parse(stdout) as { token: string }).token);
  const { url, port, heard, connections } = await listener();
  const marker = join(house.folder, 'ran');
  const auth = { type: 'bearer', secretRef: 'github_token' };
  const ids = [
    await propose(agent, { name: 'shell', transport: { kind: 'stdio', command: 'sh', args: ['-c', `touch ${marker}`] } }),
    await propose(agent, { name: 'mine', transport: { kind: 'http', url }, auth }),
    await propose(agent, { name: 'github', transport: { kind: 'http', url }, auth }),
    await propose(agent, { name: 'named', transport: { kind: 'http', url: `http://localhost:${port}/mcp` }, auth }),
  ];
  for (const odd of [`https://2130706433:${port}/`, 'https://169.254.169.254/', `http://127.1:${port}/`]) {
    const { text } = await agent.call(tool, { name: 'odd', transport: { kind: 'http', url: odd }, auth });
    expect(text).toMatch(/^ERROR: Invalid 'transport.url'/);
  }
  for (const smuggled of [
    { name: 'up', transport: { kind: 'stdio', command: 'env', envPassthrough: ['SALLYPORT_HOME'] } },
    { name: 'up', transport: { kind: 'stdio', command: 'env' }, envPassthrough: ['PATH'] },
    { name: 'up', transport: { kind: 'stdio', command: 'env', env: { LD_PRELOAD: '/tmp/x.so' } } },
    { name: 'up', transport: { kind: 'http', url, headers: { authorization: 'Bearer x' } } },
    { name: 'gіthub', transport: { kind: 'http', url } },
    { name: 'scopegate', transport: { kind: 'http', url } },
  ]) {
    expect(await agent.call(tool, smuggled)).toMatchObject({ isError: true, text: expect.stringMatching(/^ERROR: /) });
  }
  // A shell of the same user has no authority either.
  for (const id of ids) expect((await house.shell(['approve', id])).code).not.toBe(0);
  expect([existsSync(marker), connections(), readFileSync(house.path('sallyport.yaml'), 'utf8')]).toEqual([false, 0, before]);
  expect(canSeeProcesses ? house.processes().length : processes).toBe(processes);
  expect((await agent.call('github__echo', {})).isError).toBe(false);

  const shown = await house.shell(['approvals', 'show', ids[2] ?? '']);
  expect(shown.stdout).toContain(url);
  const approved = await house.shell(['approve', ids[2] ?? ''], byFile(house));
  expect(approved.code).toBe(0);
  expect(approved.stderr + approved.stdout).toContain('github is registered');
  expect(connections()).toBeGreaterThan(0);
  expect(heard.join('\n')).toContain(canary);
  const everything = [await agent.call(tool, { name: 'github', transport: { kind: 'http', url }, auth }), shown, approved];
  expect(JSON.stringify(everything)).not.toContain(canary);
  expect(daemon.stderr()).not.toContain(canary);
  await agent.close();
}, 60_000);

test('[REG-8] a thousand proposals leave five questions, survive a kill, and are decided as they were asked', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addUpstream(house, daemon, 'known', 'echo');
  const agent = await connectAgent(daemon.agent_url, token);
  const [command, ...args] = fixtureCommand('echo');
  const program = (name: string) => ({ name, transport: { kind: 'stdio', command, args } });
  const first = await propose(agent, program('first'));
  const answers: string[] = [];
  for (let at = 0; at < 1_000; at += 50)
    answers.push(
      ...(await Promise.all(Array.from({ length: 50 }, (_, one) => agent.call(tool, program(`up-${at + one}`))))).map(
        ({ text }) => text,
      ),
    );
  expect(answers.filter((text) => text.includes('pending_human_approval'))).toHaveLength(4);
  expect(answers.filter((text) => text.includes('rate_limited'))).toHaveLength(996);
  expect(await recorded(daemon, 'approval.requested')).toHaveLength(5);
  await daemon.kill();
  const again = await house.up();
  const back = await connectAgent(again.agent_url, token);
  expect(await propose(back, program('first'))).toBe(first);
  const statement = await again.line.prepare('approvals.approve', { id: first });
  expect(statement.shown).toMatchObject({ registers: { runs: { name: 'first' }, program: command } });
  expect(await again.line.operate('approvals.approve', { id: first }, house.operator.prove(statement))).toMatchObject({
    state: 'approved',
  });
  expect(JSON.parse((await back.call(tool, program('first'))).text)).toMatchObject({
    registered: 'first',
    connection: { ok: true },
  });
  await back.close();
}, 60_000);

test('[CATALOG-1] [CATALOG-3] [CATALOG-5] W15: what is tampered with, rolled back or signed by somebody else registers nothing', async () => {
  const [owner, stranger] = [makeKey(), makeKey()];
  const house = await openHouse({ policies });
  const folder = join(house.folder, 'catalogue');
  writeFileSync(house.path('sallyport.yaml'), `registry: { key: ${owner.publicKey}, path: ${folder} }\n`);
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const { url, connections } = await listener();
  const publish = (version: number, key = owner.pem): string => {
    const transport = { kind: 'http', url: 'https://wiki.example/mcp' };
    const manifest = {
      schema: 'registry/v1',
      name: 'wiki',
      description: 'Pages.',
      transport,
      auth: { type: 'bearer', secretRef: 'wiki_token' },
    };
    write(
      'manifests/wiki.json',
      JSON.stringify({ ...manifest, setup: { secrets: [{ ref: 'wiki_token', hint: 'from its settings' }] } }),
    );
    const { index } = buildIndex(folder, version, new Date(), 30);
    write('index.json', index);
    write('index.sig', signIndex(index, key));
    return index;
  };
  const daemon = await house.up();
  const agent = await connectAgent(daemon.agent_url, await addAgent(house, daemon, 'coder'));
  const update = () => decide(house, daemon, 'registry.update', {});
  const refusal = async (): Promise<string> => {
    const { isError, text } = await agent.call(tool, { from_registry: 'wiki' });
    expect(isError).toBe(true);
    return text;
  };
  const closed = "ERROR: Registry entry 'wiki' could not be verified — nothing was registered (fail-closed): ";

  publish(5);
  expect(await refusal()).toBe(`${closed}there is no entry 'wiki' in it.`);
  publish(5, stranger.pem);
  await expect(update()).rejects.toMatchObject({ code: 'registry.unverified' });
  const index = publish(5);
  write('manifests/wiki.json', readFileSync(join(folder, 'manifests/wiki.json'), 'utf8').replace('https://wiki.example', url));
  await expect(update()).rejects.toMatchObject({ code: 'registry.unverified' });
  publish(5);
  write('index.json', index.replace('"version":5', '"version":6'));
  await expect(update()).rejects.toMatchObject({ code: 'registry.unverified' });

  publish(5);
  const statement = await daemon.line.prepare('registry.update', {});
  expect(statement.shown).toMatchObject({ source: folder, signed_with: owner.publicKey, version: 5, added: ['wiki'] });
  publish(6);
  await expect(daemon.line.operate('registry.update', {}, house.operator.prove(statement))).rejects.toMatchObject({
    code: 'operator.changed',
  });
  expect((await house.shell(['registry', 'update'])).code).not.toBe(0);
  await update();
  for (const version of [6, 5, 1]) {
    publish(version);
    await expect(update()).rejects.toMatchObject({ code: 'registry.not_newer' });
  }
  expect((await house.shell(['registry', 'ls'])).stdout).toMatch(/wiki +https:\/\/wiki\.example\/mcp/);
  expect(JSON.parse((await agent.call(tool, { from_registry: 'wiki' })).text)).toMatchObject({ status: 'pending_human_approval' });
  expect(await recorded(daemon, 'registry.updated')).toHaveLength(1);
  expect(connections()).toBe(0);
  await agent.close();
}, 60_000);
