// Logging in from the command line, and what comes of it: an upstream that is reached, a token that comes back nowhere, a logout.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startOAuthServer, type OAuthServer } from '../../../test/fixtures/providers/oauth-server.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import { scriptCli, type ScriptedCli } from '../../../test/support/scripted-cli.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import { runCommandLine } from '../../faces/cli/run-command-line.ts';
import { commandsOf } from '../../faces/cli/operation-commands.ts';
import { createClock } from '../../platform/clock.ts';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { createTokenHttp } from '../../platform/token-http.ts';
import { authLoginCommand } from './auth-login.ts';
import type { LoginParts } from './make-login.ts';

const policies = `version: 1
agents:
  "*":
    capabilities:
      - match: "*:call:*"
        effect: allow
`;
const sesame = 'open sesame please';

let house: GatewayHouse;
let agent: HouseAgent;
let server: OAuthServer;
let count = 0;
let name: string;

beforeAll(async () => {
  house = await openGatewayHouse({ policies });
  agent = await house.agent();
});
afterAll(() => house.close());
beforeEach(async () => {
  server = await startOAuthServer();
  count += 1;
  name = `notion${count}`;
  await enter(name, server.resource);
});
afterEach(() => server.stop());

async function enter(upstream: string, url: string, auth = `{ type: oauth2, secretRef: ${upstream}_login }`): Promise<void> {
  const file = join(house.home, 'sallyport.yaml');
  if (count === 1) writeFileSync(file, 'version: 1\nupstreams:\n');
  appendFileSync(file, `  - name: ${upstream}\n    transport: { kind: http, url: '${url}' }\n    auth: ${auth}\n`);
  await house.decide('fleet.accept', { name: upstream });
}

interface Ran {
  readonly code: number;
  readonly cli: ScriptedCli;
  readonly said: string;
}

/** A person at the terminal, and a browser that goes where it is sent. */
async function run(words: string[], answers?: readonly string[], browser = follow): Promise<Ran> {
  const cli = scriptCli({
    dispatch: house.dispatch,
    operator: house.operator,
    ...(answers === undefined ? { passphraseFile: sesame } : { answers }),
  });
  const parts: LoginParts = {
    http: createTokenHttp(),
    clock: createClock(),
    entropy: createEntropy(),
    digest: createDigest(),
    openBrowser: (url) => void browser(url),
  };
  const deps = {
    operations: house.dispatch.operations,
    readInput: () => Promise.resolve(new Uint8Array()),
    passphraseFromFile: () => Promise.resolve(undefined),
    personBesidePipe: () => undefined,
  };
  const commands = [authLoginCommand(deps, parts), ...commandsOf(house.dispatch.operations)];
  const code = await runCommandLine(words, commands, cli);
  return { code, cli, said: [...cli.stdout, ...cli.stderr].join('\n') };
}

async function follow(url: string): Promise<void> {
  await fetch(url);
}

const logIn = (): Promise<Ran> => run(['auth', 'login', name, '--open'], ['y', sesame]);
const health = async (): Promise<Record<string, unknown>> => {
  const { upstreams } = await agent.json('scopegate_diagnose');
  return (upstreams as Record<string, Record<string, unknown>>)[name] ?? {};
};
const tokensOf = (): string[] => server.requests.flatMap(({ headers }) => /tok-\w+/.exec(headers.authorization ?? '')?.[0] ?? []);

describe('a login', () => {
  test('[OAUTH-17] is signed for, opens the upstream, and is seen nowhere', async () => {
    expect(await health()).toMatchObject({
      ok: false,
      mode: 'minted:oauth2',
      oauth: { state: 'needs_reauth', token_expires_in_s: null },
      action_required: `run in your terminal: scopegate auth login ${name}`,
    });
    const { code, said } = await logIn();
    expect([code, said]).toEqual([0, expect.stringContaining(`Logged in to ${name}`)]);
    expect(said).toMatch(new RegExp(`kept_as +${name}_login`));
    await expect.poll(async () => (await health())['ok']).toBe(true);
    expect((await health())['oauth']).toMatchObject({ state: 'ok', consecutive_failures: 0 });

    const answer = await agent.text(`${name}__whoami`);
    const tokens = tokensOf();
    expect(tokens.length).toBeGreaterThan(0);
    expect(answer).toContain('you came with');
    for (const token of new Set(tokens)) {
      for (const text of [answer, said, house.recordText(), JSON.stringify(house.rows())]) expect(text).not.toContain(token);
    }
  });

  test('[OAUTH-17] without the signature, or with another answer than was signed for, keeps nothing', async () => {
    expect((await run(['auth', 'login', name, '--open'], ['n'])).code).toBe(1);
    const input = { upstream: name, issuer: server.url, resource: server.resource, client: 'x', scopes: [], size: 1_024 };
    const value = new TextEncoder().encode('{"v":1}');
    const { commitments, secrets } = await (await import('../../faces/cli/carry-secret.ts')).carrySecrets({ login: value });
    const given = { ...input, ...commitments };
    const statement = await house.prepare('auth.login', given);
    const proof = house.operator.prove(statement);
    const { signal } = new AbortController();
    await expect(house.dispatch.operate({ kind: 'operator', proof }, 'auth.login', given, signal, secrets)).rejects.toThrow(
      expect.objectContaining({ code: 'auth.other_login' }),
    );
    await expect(house.prepare('auth.login', { ...given, resource: 'https://evil.test/mcp' })).rejects.toThrow(
      expect.objectContaining({ code: 'auth.other_login' }),
    );
    expect((await health())['oauth']).toMatchObject({ state: 'needs_reauth' });
  });

  test('[OAUTH-15] with a code on another device needs no browser and no terminal', async () => {
    const ran = run(['auth', 'login', name]);
    await expect.poll(() => server.devices.size).toBe(1);
    for (const device of server.devices.values()) device.state = 'approved';
    const { code, said } = await ran;
    expect([code, said]).toEqual([0, expect.stringMatching(/type:\n\n {4}[0-9A-F]{4}-[0-9A-F]{4}/)]);
    await expect.poll(async () => (await health())['ok']).toBe(true);
  }, 20_000);

  test('[OAUTH-13] of a client that was registered by hand asks for its secret, hidden, and is used with it', async () => {
    server.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'], registration_endpoint: undefined };
    server.clients.set('by-hand', { id: 'by-hand', secret: 'a secret: of %', redirects: ['http://127.0.0.1/callback'] });
    const own = `${name}h`;
    await enter(own, server.resource, `{ type: oauth2, secretRef: ${own}_login, clientId: by-hand }`);
    const { code, cli, said } = await run(['auth', 'login', own, '--open'], ['a secret: of %', 'y', sesame]);
    expect([code, cli.prompts[0]]).toEqual([0, `hidden Secret of the client at ${server.url}: `]);
    expect(said).not.toContain('a secret: of %');
    await expect.poll(() => agent.toolNames()).toContain(`${own}__whoami`);
    expect(JSON.stringify(house.rows())).not.toContain('a secret: of %');
  });

  test('[OAUTH-10] is over after a logout, and the next one uses the same registration', async () => {
    await logIn();
    await expect.poll(async () => (await health())['ok']).toBe(true);
    const { said } = await run(['auth', 'logout', name], []);
    expect(said).toContain('its authorization server has ended it too');
    const error = await agent.refusal(`${name}__whoami`);
    expect(['auth.needs_reauth', 'fleet.auth_broken', 'fleet.down']).toContain(error.code);
    expect((await health())['oauth']).toMatchObject({ state: 'needs_reauth' });
    expect((await logIn()).code).toBe(0);
    expect(server.clients.size).toBe(1);
    await expect.poll(async () => (await health())['ok']).toBe(true);
  });
});

describe('what an upstream says to its own token', () => {
  test('[OAUTH-20] a login that is over is told as a failure of the tool, with the command that mends it', async () => {
    await logIn();
    await expect.poll(async () => (await health())['ok']).toBe(true);
    server.forgetAccess();
    server.revokeAll();
    const { text } = await agent.reads(`${name}__whoami`);
    const told = JSON.parse(text) as { error?: { kind?: string } };
    expect(JSON.stringify(told)).toContain('auth_broken');
    expect(JSON.stringify(told)).toContain(`auth login ${name}`);
  });

  test('[OAUTH-16] a right it misses is shown with the command, and asked for at the next login', async () => {
    await logIn();
    await expect.poll(async () => (await health())['ok']).toBe(true);
    server.wants = ['write'];
    const { text } = await agent.reads(`${name}__whoami`);
    expect(text).toContain('auth_broken');
    expect(text).toContain(`scopegate auth login ${name}`);
    expect((await health())['oauth']).toMatchObject({ state: 'needs_reauth' });
    const { said } = await run(['auth', 'status', '--json'], []);
    expect(said).toContain('"missed_scopes":["write"]');
    expect((await logIn()).code).toBe(0);
    expect(await agent.text(`${name}__whoami`)).toContain('you came with');
  });
});

describe('several logins at once', () => {
  test('[OAUTH-8] each that is over is shown, and the others go on', async () => {
    await logIn();
    const other = `${name}b`;
    await enter(other, server.resource);
    const third = `${name}c`;
    await enter(third, server.resource);
    await expect.poll(async () => (await health())['ok']).toBe(true);
    const { upstreams } = await agent.json('scopegate_diagnose');
    const states = [other, third].map((one) => (upstreams as Record<string, { action_required?: string }>)[one]?.action_required);
    expect(states).toEqual([other, third].map((one) => `run in your terminal: scopegate auth login ${one}`));
    expect(await agent.text(`${name}__whoami`)).toContain('you came with');
  });

  test('[OAUTH-19] one name in the vault gives nothing to another place', async () => {
    await logIn();
    const elsewhere = await startOAuthServer();
    try {
      const thief = `${name}t`;
      await enter(thief, elsewhere.resource, `{ type: oauth2, secretRef: ${name}_login }`);
      await agent.refusal(`${thief}__whoami`);
      expect(elsewhere.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    } finally {
      await elsewhere.stop();
    }
  });

  test('[OAUTH-21] a login takes no name of a secret that a person put into the vault', async () => {
    const ref = `${name}_login`;
    const value = new TextEncoder().encode('a-value-of-a-person');
    const { commitments, secrets } = await (await import('../../faces/cli/carry-secret.ts')).carrySecrets({ value });
    const given = { ref, size: 64, ...commitments };
    const proof = house.operator.prove(await house.prepare('vault.add-secret', given));
    await house.dispatch.operate({ kind: 'operator', proof }, 'vault.add-secret', given, new AbortController().signal, secrets);
    const { code, said } = await logIn();
    expect([code, said]).toEqual([1, expect.stringContaining('no login takes its place')]);
  });
});
