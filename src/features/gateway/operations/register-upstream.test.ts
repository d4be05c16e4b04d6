import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { fixtureCommand } from '../../../../test/support/fixture-upstream.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../../test/support/house-agent.ts';
import { putSecret } from '../../../../test/support/put-secret.ts';

const policies = `version: 1
agents:
  '*':
    capabilities:
      - { match: '*:call:*', effect: allow }
  free-1:
    capabilities:
      - { match: '*:*:*', effect: allow }
  barred-1:
    limits: { deny: ['sallyport:register:secret*'] }
    capabilities:
      - { match: '*:call:*', effect: allow }
`;
const tool = 'scopegate_register_upstream';

let house: GatewayHouse;
let settings: () => string;

beforeAll(async () => {
  house = await openGatewayHouse({ policies, upstreams: { old: ['echo'] } });
  settings = () => readFileSync(join(house.home, 'sallyport.yaml'), 'utf8');
  writeFileSync(join(house.home, 'sallyport.yaml'), `# mine\n${settings()}`);
});
afterAll(() => house.close());

function program(name: string, behaviour = 'echo', more: JsonObject = {}): JsonObject {
  const [command, ...args] = fixtureCommand(behaviour);
  return { name, transport: { kind: 'stdio', command, args }, ...more };
}

async function propose(agent: HouseAgent, args: JsonObject): Promise<string> {
  const { approval_id: id, ...answer } = await agent.json(tool, args);
  if (typeof id !== 'string') throw new Error(`nobody is asked: ${JSON.stringify(answer)}`);
  return id;
}

const upstreams = async (): Promise<string[]> => ((await house.local('fleet.list')) as { name: string }[]).map(({ name }) => name);

/** A listener on loopback that counts who connects. */
async function listener(): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer((_, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1');
  server.on('connection', () => (connections += 1));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, connections: () => connections };
}

describe('before a person signed', () => {
  test('[REG-4] the answer is the pending shape of the contract, and nothing is started, dialled or written', async () => {
    const agent = await house.agent();
    const folder = mkdtempSync(join(tmpdir(), 'registered-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const marker = join(folder, 'ran');
    const before = settings();
    const { url, connections } = await listener();
    const shell = { name: 'shell', transport: { kind: 'stdio', command: 'sh', args: ['-c', `touch ${marker}`] } };
    const answer = await agent.json(tool, shell);
    const id = await propose(agent, shell);
    expect(answer).toEqual({
      granted: false,
      status: 'pending_human_approval',
      approval_id: id,
      approval_expires_at: expect.any(String),
      reason: "Capability 'sallyport:register:shell' matches 'sallyport:register:*' which requires human approval.",
      instructions: expect.stringContaining(`scopegate approve ${id}`),
      next_step: 'Ask the human to approve this registration, or wait for approval.',
    });
    await propose(agent, { name: 'web', transport: { kind: 'http', url } });
    await house.local('approvals.show', { id });
    const statement = await house.prepare('approvals.approve', { id });
    expect(JSON.stringify(statement.shown)).toContain('sh runs whatever its arguments say');
    expect(existsSync(marker)).toBe(false);
    expect(connections()).toBe(0);
    expect(settings()).toBe(before);
    expect(await upstreams()).toEqual(['old']);
  });

  test('[REG-4] a rule that allows it lets nothing in', async () => {
    const free = await house.agent('free-1');
    const answer = await free.json(tool, program('freely'));
    expect(answer).toMatchObject({ status: 'pending_human_approval', reason: expect.stringContaining('all the same') });
    expect(await free.json('scopegate_request_capability', { capability: 'sallyport:register:freely', reason: 'x' })).toMatchObject(
      {
        granted: true,
      },
    );
    expect(await free.json(tool, program('freely'))).toMatchObject({ status: 'pending_human_approval' });
    expect(await upstreams()).not.toContain('freely');
  });

  test('[REG-4] a deny refuses and asks nobody', async () => {
    const barred = await house.agent('barred-1');
    expect(await barred.json(tool, program('secretive'))).toMatchObject({ granted: false, code: 'ceiling_blocked' });
    expect(await house.open(barred)).toEqual([]);
    expect(await barred.json(tool, program('other'))).toMatchObject({ status: 'pending_human_approval' });
  });

  test('[REG-1] what does not fit is told as misuse, in the words of the contract', async () => {
    const agent = await house.agent();
    for (const [args, words] of [
      [{ transport: { kind: 'http', url: 'https://a.example' } }, "ERROR: Invalid or missing 'name'"],
      [{ ...program('up'), envPassthrough: ['SALLYPORT_HOME'] }, "ERROR: Unknown argument 'envPassthrough'"],
      [{ ...program('up'), exposeTools: [] }, "ERROR: Unknown argument 'exposeTools'"],
      [{ name: 'up', transport: { kind: 'http', url: 'https://169.254.169.254/' } }, "ERROR: Invalid 'transport.url'"],
      [
        { from_registry: 'nothing-of-that-name' },
        "ERROR: Registry entry 'nothing-of-that-name' could not be verified — nothing was registered (fail-closed): there is no entry",
      ],
    ] as const) {
      const { text, isError } = await agent.reads(tool, args);
      expect(text).toContain(words);
      expect(isError).toBe(true);
    }
    expect(await house.open(agent)).toEqual([]);
  });

  test('[REG-8] the same proposal is the same approval, another is another, and five are open at most', async () => {
    const agent = await house.agent();
    const first = await propose(agent, program('first'));
    expect(await propose(agent, program('first'))).toBe(first);
    expect(await propose(agent, program('first', 'echo', { auth: { type: 'none' } }))).toBe(first);
    expect(await propose(agent, program('first', 'slow'))).not.toBe(first);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => agent.reads(tool, program(`many-${at}`))));
    expect(answers.filter(({ isError }) => !isError)).toHaveLength(3);
    expect(answers.at(-1)?.text).toContain('rate_limited');
    expect(await house.open(agent)).toHaveLength(5);
  });

  test('[REG-8] a denial is remembered', async () => {
    const agent = await house.agent();
    const id = await propose(agent, program('unwanted'));
    await house.deny(id, 'not here');
    expect(await agent.json(tool, program('unwanted'))).toMatchObject({
      granted: false,
      status: 'denied',
      approval_id: id,
      reason: 'not here',
      retry_after_s: expect.any(Number),
    });
  });
});

describe('what a person signs', () => {
  test('[REG-5] is the whole entry, its digest, its program, its secrets and what is particular about it', async () => {
    const agent = await house.agent();
    const auth = { type: 'env', env: { API_KEY: 'my_key' } };
    const id = await propose(agent, program('whole', 'echo', { auth }));
    const { shown } = await house.prepare('approvals.approve', { id });
    const [command, ...args] = fixtureCommand('echo');
    expect(shown).toMatchObject({
      decision: 'approve',
      buys: expect.stringContaining("the upstream 'whole'"),
      attention: expect.stringMatching(/^It runs as your user.*\nWARNING: node runs whatever its arguments say/),
      registers: {
        runs: { name: 'whole', transport: { kind: 'stdio', command, args }, auth, exposeTools: [], envPassthrough: [] },
        program: command,
        spec_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      secrets_sent: [{ secret: 'my_key', to: "the program of 'whole'", as: 'the variable API_KEY' }],
      proposed: {
        notes: [expect.stringContaining('It runs as your user'), expect.stringContaining('runs whatever its arguments say')],
      },
    });
    const web = await propose(agent, {
      name: 'web',
      transport: { kind: 'http', url: 'https://10.1.2.3:9/mcp' },
      auth: { type: 'bearer', secretRef: 'my_key' },
    });
    expect((await house.prepare('approvals.approve', { id: web })).shown).toMatchObject({
      registers: { origin: 'https://10.1.2.3:9', connects: { transport: { addresses: 'local' } } },
      secrets_sent: [{ secret: 'my_key', to: 'https://10.1.2.3:9', as: 'its value, in the header Authorization, scheme Bearer' }],
      proposed: { notes: [expect.stringContaining('private network'), expect.stringContaining('port 9')] },
    });
  });

  test('[REG-5] a program that turns up after it was signed is not what was signed', async () => {
    const agent = await house.agent();
    const folder = mkdtempSync(join(tmpdir(), 'registered-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const command = join(folder, 'later');
    const id = await propose(agent, { name: 'later', transport: { kind: 'stdio', command } });
    const statement = await house.prepare('approvals.approve', { id });
    writeFileSync(command, '#!/bin/sh\ntouch "$0.ran"\n', { mode: 0o755 });
    await expect(house.decide('approvals.approve', { id }, statement)).rejects.toMatchObject({ code: 'operator.changed' });
    expect(existsSync(`${command}.ran`)).toBe(false);
    expect(await upstreams()).not.toContain('later');
  });

  test('[REG-5] an entry of that name that appears after it was signed is not replaced', async () => {
    const agent = await house.agent();
    const id = await propose(agent, program('sudden'));
    const statement = await house.prepare('approvals.approve', { id });
    const before = settings();
    writeFileSync(
      join(house.home, 'sallyport.yaml'),
      `${before.trimEnd()}\n  - { name: sudden, transport: { kind: stdio, command: other } }\n`,
    );
    onTestFinished(() => writeFileSync(join(house.home, 'sallyport.yaml'), before));
    await expect(house.decide('approvals.approve', { id }, statement)).rejects.toMatchObject({ code: 'operator.changed' });
    expect(settings()).toContain('command: other');
  });

  test('[REG-5] it buys no ttl and is decided once', async () => {
    const agent = await house.agent();
    const id = await propose(agent, program('once'));
    await expect(house.approve(id, { ttl: '1m' })).rejects.toMatchObject({ code: 'approvals.bad_ttl' });
    await house.approve(id);
    await expect(house.approve(id)).rejects.toMatchObject({ code: 'approvals.not_pending' });
  });
});

describe('after a person signed', () => {
  test('[REG-6] it is in the file, accepted, started and pinned, and the same call says so', async () => {
    const agent = await house.agent();
    const args = program('fresh');
    const id = await propose(agent, args);
    expect(await house.approve(id)).toMatchObject({
      state: 'approved',
      outcome: expect.stringContaining('fresh is registered and runs'),
    });
    expect(settings()).toContain('# mine');
    expect(settings()).toContain('name: fresh');
    const answer = await agent.json(tool, args);
    expect(answer).toEqual({ registered: 'fresh', connection: { ok: true, tools: expect.any(Number) } });
    expect(await agent.call('fresh__echo', {})).toMatchObject({ kind: 'upstream' });
    const added = (await house.records('upstream.added')).filter(({ facts }) => facts?.['upstream'] === 'fresh');
    expect(added).toHaveLength(1);
    expect(added[0]?.facts?.['proof']).toMatchObject({ key_id: expect.any(String) });
  });

  test('[REG-6] one that does not answer is registered all the same', async () => {
    const agent = await house.agent();
    const { url, connections } = await listener();
    const args = { name: 'mute', transport: { kind: 'http', url } };
    const id = await propose(agent, args);
    expect(connections()).toBe(0);
    expect(await house.approve(id)).toMatchObject({ outcome: expect.stringContaining('does not run') });
    expect(connections()).toBeGreaterThan(0);
    expect(await agent.json(tool, args)).toEqual({ registered: 'mute', connection: { ok: false, error: expect.any(String) } });
  });

  test('[REG-6] one whose secrets are not there waits for them, in the words to be relayed', async () => {
    const agent = await house.agent();
    const args = program('keyed', 'echo', { auth: { type: 'env', env: { API_KEY: 'fresh_key' } } });
    await house.approve(await propose(agent, args));
    expect(await agent.json(tool, args)).toEqual({
      registered: 'keyed',
      status: 'waiting_for_secrets',
      action_required: 'Ask the human to run in their terminal: scopegate secret add fresh_key  — then call scopegate_diagnose.',
    });
    await putSecret(house, 'add', 'fresh_key', 'value-of-the-fresh-key');
    expect(await agent.json(tool, args)).toMatchObject({ registered: 'keyed', connection: { ok: true } });
  });

  test('[REG-6] one that nobody has logged in to says which command does', async () => {
    const agent = await house.agent();
    const { url, connections } = await listener();
    const args = { name: 'logged', transport: { kind: 'http', url }, auth: { type: 'oauth2', secretRef: 'logged_oauth' } };
    await house.approve(await propose(agent, args));
    expect(await agent.json(tool, args)).toEqual({
      registered: 'logged',
      status: 'waiting_for_secrets',
      action_required: 'Ask the human to run in their terminal: scopegate auth login logged  — then call scopegate_diagnose.',
    });
    expect(connections()).toBe(0);
  });

  test('[CATALOG-6] one of the catalogue comes with its hints, and its name is all an agent says', async () => {
    const agent = await house.agent();
    const args = { from_registry: 'github' };
    const id = await propose(agent, args);
    const { shown } = await house.prepare('approvals.approve', { id });
    expect(shown).toMatchObject({
      proposed: { from_registry: { entry: 'github', catalogue_version: expect.any(Number), manifest_sha256: expect.any(String) } },
      registers: { origin: 'https://api.githubcopilot.com', connects: { transport: { addresses: 'public' } } },
      secrets_sent: [{ secret: 'github_token', to: 'https://api.githubcopilot.com' }],
    });
    await house.approve(id);
    expect(await agent.json(tool, args)).toEqual({
      registered: 'github',
      status: 'waiting_for_secrets',
      from_registry: 'github',
      setup_hints: { github_token: expect.stringContaining('fine-grained') },
      action_required: 'Ask the human to run in their terminal: scopegate secret add github_token  — then call scopegate_diagnose.',
    });
  });
});

describe('a name that is taken', () => {
  test('[REG-7] is replaced only as a difference that a person saw, and until then the old one goes on', async () => {
    const agent = await house.agent();
    await putSecret(house, 'add', 'the_key', 'value-of-the-old-key');
    const before = program('swap', 'echo', { auth: { type: 'env', env: { API_KEY: 'the_key' } } });
    await house.approve(await propose(agent, before));
    const { url, connections } = await listener();
    const after = { name: 'swap', transport: { kind: 'http', url }, auth: { type: 'bearer', secretRef: 'the_key' } };
    const id = await propose(agent, after);
    const { shown } = await house.prepare('approvals.approve', { id });
    expect(shown).toMatchObject({
      secrets_sent: [{ secret: 'the_key', to: new URL(url).origin }],
      replaces: {
        changes: {
          transport: { was: { kind: 'stdio' }, becomes: { kind: 'http' } },
          auth: { was: { type: 'env' }, becomes: { type: 'bearer' } },
        },
        secrets_no_longer_sent: [{ secret: 'the_key', to: "the program of 'swap'" }],
      },
    });
    expect(await agent.call('swap__echo', {})).toMatchObject({ kind: 'upstream' });
    expect(connections()).toBe(0);
    await house.approve(id);
    expect(settings().match(/name: swap/g)).toHaveLength(1);
    expect(settings()).toContain(url);
    expect(connections()).toBeGreaterThan(0);
  });

  test('[REG-7] a secret that others are given already is said to be', async () => {
    const agent = await house.agent();
    await putSecret(house, 'add', 'shared_key', 'value-of-the-shared-key');
    const auth = { type: 'env', env: { API_KEY: 'shared_key' } };
    await house.approve(await propose(agent, program('honest', 'echo', { auth })));
    const { url, connections } = await listener();
    const id = await propose(agent, {
      name: 'thief',
      transport: { kind: 'http', url },
      auth: { type: 'bearer', secretRef: 'shared_key' },
    });
    expect((await house.prepare('approvals.approve', { id })).shown).toMatchObject({
      secrets_sent: [{ secret: 'shared_key', is_given_to_already: ['honest'] }],
    });
    expect(connections()).toBe(0);
  });
});
