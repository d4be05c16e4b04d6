// Canaries in the kinds of secret that are made, kept or shown once: logins, minted tokens and the keys behind them, git's tokens, a secret in
// a file, a honeytoken, passphrases, the recovery code, the tokens of agents. Real program, fake providers, before and after all of it changes.
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startAwsSts } from '../fixtures/providers/aws-sts.ts';
import { startGithubApp } from '../fixtures/providers/github-app.ts';
import { startGoogleToken } from '../fixtures/providers/google-token.ts';
import { startHuly } from '../fixtures/providers/huly.ts';
import { startOAuthServer } from '../fixtures/providers/oauth-server.ts';
import { spokenWays } from '../fixtures/spoken-ways.ts';
import { connectAgent, exchange, type AgentClient } from '../support/agent-client.ts';
import { argumentsOfAll, everyByte, traces } from '../support/canary-search.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { allReady, repeater } from '../support/repeater.ts';
import { openHouse, recorded, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  '*':
    default_ttl: 1h
    capabilities:
      - { match: '*:call:*', effect: allow }
      - { match: 'git:credential:*', effect: allow }
`;
const operatorPassphrase = 'correct horse battery staple';
const vaultPassphrase = 'cAnArY-vault horse 71c0 staple';
const clientSecrets = ['cAnArYclient-one-8d21', 'cAnArYclient-two-3e77'] as const;
const placed = ['cAnArYplaced-one-55aa', 'cAnArYplaced-two-66bb'] as const;
/** Fits none of the kinds: what is said of it must not repeat it. */
const nonsense = 'cAnArYnonsense-0b0b {"password": "cAnArYnonsense-1c1c"';
const refs = ['app_key', 'role_keys', 'robot_file', 'huly_login'] as const;
const upstreams = ['hub', 'robot', 'huly', 'cloud', 'session'];

async function startProviders() {
  const [github, sts, google, huly, oauth] = await Promise.all([
    startGithubApp(),
    startAwsSts(),
    startGoogleToken(),
    startHuly(),
    startOAuthServer(),
  ]);
  const all = [github, sts, google, huly, oauth];
  onTestFinished(async () => void (await Promise.all(all.map((one) => one.stop()))));
  oauth.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'], registration_endpoint: undefined };
  Object.assign(sts.keys, { secretAccessKey: 'cAnArY/aws+one/0123456789abcdefABCDEF0001' });
  Object.assign(huly.login, { password: 'cAnArY:huly "one" 0123' });
  return { github, sts, google, huly, oauth, all };
}
type Providers = Awaited<ReturnType<typeof startProviders>>;

/** What is in the vault, by name; the second time the same keys in another writing, and other passwords at their providers. */
function keysOf({ github, sts, google, huly }: Providers, round: 0 | 1): Record<(typeof refs)[number], string> {
  if (round === 1) {
    Object.assign(sts.keys, { secretAccessKey: 'cAnArY/aws+two/0123456789abcdefABCDEF0002' });
    Object.assign(huly.login, { password: 'cAnArY:huly "two" 4567' });
  }
  const written = (pem: string): string =>
    round === 0 ? pem : (createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }) as string);
  const file = google.keyFile;
  return {
    app_key: written(github.privateKey),
    role_keys: JSON.stringify(sts.keys),
    robot_file: JSON.stringify({ ...file, private_key: written(file['private_key'] ?? '') }),
    huly_login: JSON.stringify(huly.login),
  };
}

/** Of each key its parts as well. */
function partsOf(keys: Record<string, string>): string[] {
  return Object.values(keys).flatMap((text) => {
    if (!text.startsWith('{')) return [text];
    const { private_key: key, secretAccessKey, password } = JSON.parse(text) as Record<string, string>;
    return [text, key, secretAccessKey, password].filter((part) => part !== undefined);
  });
}

/** Whatever providers gave out or were shown. */
function tokensOf({ github, sts, google, oauth, all }: Providers): string[] {
  const shown = all.flatMap(({ requests }) =>
    requests.flatMap(({ headers, body }) => [
      /^(?:Bearer|Basic) (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '',
      new URLSearchParams(body).get('assertion') ?? '',
    ]),
  );
  return [
    ...github.issued.map(({ token }) => token),
    ...google.issued.map(({ token }) => token),
    ...sts.assumed.flatMap(({ secretAccessKey, sessionToken }) => [secretAccessKey, sessionToken]),
    ...oauth.issued,
    ...oauth.renewals,
    ...oauth.devices.keys(),
    ...shown.filter((text) => text !== ''),
  ];
}

/** First what each upstream says in every way. */
async function answers(agent: AgentClient): Promise<string[]> {
  const said: string[] = [];
  const ask = async (name: string, args: object = {}): Promise<void> => {
    const params = { name, arguments: args, _meta: { progressToken: 1 } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: said.length + 1, method: 'tools/call', params });
    said.push((await agent.send(body)).body);
  };
  for (const way of Object.keys(spokenWays)) {
    for (const upstream of upstreams) await ask(`${upstream}__say`, { way });
    await ask('login__whoami', { way });
  }
  for (const upstream of ['hub', 'robot', 'huly']) for (const tool of ['refuse', 'status']) await ask(`${upstream}__${tool}`);
  for (const upstream of ['cloud', 'session'])
    for (const tool of ['refuse', 'progress', 'log', 'ask', 'crash', 'say']) await ask(`${upstream}__${tool}`);
  for (const tool of ['scopegate_diagnose', 'scopegate_upstream_health', 'scopegate_vault_status']) await ask(tool);
  said.push((await agent.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'tools/list', params: {} }))).body);
  return said;
}

test('[REDACT-4] [INJECT-4] nothing that is minted, logged in for, placed or shown once can be read anywhere else, before and after it is changed', async () => {
  const [house, providers] = [await openHouse({ policies, seat: 'file' }), await startProviders()];
  const { github, google, huly, sts, oauth } = providers;
  const [hub, robot, workspace] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const urls = {
    hub: (await repeater('authorization', hub)).url,
    robot: (await repeater('authorization', robot)).url,
    huly: (await repeater('authorization', workspace)).url,
  };
  writeFileSync(house.path('sallyport.yaml'), settings(urls, providers));
  const vaultFile = join(house.folder, 'vault-passphrase');
  writeFileSync(vaultFile, `${vaultPassphrase}\n`, { mode: 0o600 });
  const project = join(house.folder, 'project');
  mkdirSync(project);
  const daemon = await house.up({ SALLYPORT_LOG_LEVEL: 'debug' });
  const passphrases = { SALLYPORT_OPERATOR_PASSPHRASE_FILE: house.passphraseFile, SALLYPORT_VAULT_PASSPHRASE_FILE: vaultFile };
  const heard: string[] = [];

  /** Standard output that shows something once is the caller's alone. */
  const ownWords = async (args: readonly string[], input?: string, more: Record<string, string> = {}): Promise<string> => {
    const running = house.shell(args, { ...passphrases, ...more }, input);
    await delay(150);
    heard.push(argumentsOfAll());
    const { code, stdout, stderr } = await running;
    heard.push(stderr);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const stdout = await ownWords(args, input);
    heard.push(stdout);
    return stdout;
  };
  const once = async (field: string, args: readonly string[], input?: string): Promise<string> => {
    const value = (JSON.parse(await ownWords([...args, '--json'], input)) as Record<string, string>)[field];
    if (value === undefined) throw new Error(`${args.join(' ')} did not say ${field}`);
    return value;
  };
  const put = async (verb: 'add' | 'rotate', keys: Record<string, string>): Promise<void> => {
    for (const [ref, value] of Object.entries(keys)) await run(['secret', verb, ref], value);
  };
  const logIn = async (secret: string): Promise<void> => {
    oauth.clients.set('by-hand', { id: 'by-hand', secret, redirects: ['http://127.0.0.1/callback'] });
    const [running, known] = [run(['auth', 'login', 'login'], secret), oauth.devices.size];
    await until(() => oauth.devices.size > known, 'a code is asked for', 30_000);
    for (const device of oauth.devices.values()) device.state = 'approved';
    await running;
  };
  const gitToken = async (token: string): Promise<string> => {
    const question = 'protocol=https\nhost=git.acme.example\npath=acme/api.git\n\n';
    const said = await ownWords(['git-credential', 'get'], question, { SALLYPORT_TOKEN: token });
    const password = /^password=(.+)$/m.exec(said)?.[1];
    if (password === undefined) throw new Error('git was given nothing');
    return password;
  };

  // Before.
  await run(['vault', 'init', 'passphrase']);
  const codes = [await once('recovery_code', ['vault', 'slot', 'add', 'recovery'])];
  const keys = [keysOf(providers, 0)];
  await put('add', { ...keys[0], placed_token: placed[0] });
  for (const name of [...upstreams, 'login']) await run(['upstream', 'accept', name]);
  oauth.expiresIn = 30;
  await logIn(clientSecrets[0]);
  const decoy = await once('value', ['honeytoken', 'plant', 'prod_deploy_2', '--kind', 'github']);
  const app = ['--app-id', '4711', '--installation-id', '815', '--secret-ref', 'app_key', '--api-url', github.url];
  await run(['git', 'allow', 'git.acme.example/acme', ...app]);
  await run(['inject', 'allow', `${project}/**`]);
  const agentTokens = [await once('token', ['agent', 'add', 'kimi']), await once('token', ['agent', 'add', 'thief'])];
  let agent = await connectAgent(daemon.agent_url, agentTokens[0] ?? '');
  const out = join(project, '.npmrc');
  const placing = { ref: 'placed_token', out, template: 'token={{secret}}\n' };
  const { approval_id: id } = JSON.parse((await agent.call('scopegate_inject_file', placing)).text) as { approval_id: string };
  await run(['approve', id]);
  heard.push((await agent.call('scopegate_inject_file', placing)).text);
  expect(readFileSync(out, 'utf8')).toBe(`token=${placed[0]}\n`);
  await allReady(daemon);
  const gitTokens = [await gitToken(agentTokens[0] ?? '')];
  const before = await answers(agent);
  heard.push(...before, argumentsOfAll());
  await until(() => oauth.issued.length > 1, 'the login is renewed', 40_000);
  oauth.expiresIn = 3_600;
  heard.push(...(await looksOf(house, daemon, run, 'before')));

  // All of it becomes another.
  await run(['vault', 'rotate-key']);
  await run(['vault', 'lock']);
  codes.push(await once('recovery_code', ['vault', 'recover'], codes[0]));
  keys.push(keysOf(providers, 1));
  await put('rotate', { ...keys[1], placed_token: placed[1] });
  await run(['inject', '--refresh', out]);
  await logIn(clientSecrets[1]);
  await agent.close();
  agentTokens.push(await once('token', ['agent', 'rotate', 'kimi']));
  agent = await connectAgent(daemon.agent_url, agentTokens[2] ?? '');
  await allReady(daemon);
  for (const issued of github.issued) issued.revoked = true;
  const erased = `protocol=https\nhost=git.acme.example\npath=acme/api.git\npassword=${gitTokens[0]}\n\n`;
  await ownWords(['git-credential', 'erase'], erased, { SALLYPORT_TOKEN: agentTokens[2] ?? '' });
  gitTokens.push(await gitToken(agentTokens[2] ?? ''));
  const after = await answers(agent);
  heard.push(...after, argumentsOfAll());

  // Every kind was handed out, both before and after, and was found in what came back.
  for (const seen of [hub, robot, workspace]) expect(seen.size).toBeGreaterThan(1);
  expect(github.issued.map(({ token }) => token)).toEqual(expect.arrayContaining(gitTokens));
  expect(new Set([...gitTokens, ...codes]).size).toBe(4);
  expect(oauth.grants).toEqual(expect.arrayContaining(['refresh_token', expect.stringContaining('device_code')]));
  expect(sts.assumed.length).toBeGreaterThan(1);
  const spoken = Object.keys(spokenWays).length * (upstreams.length + 1);
  for (const texts of [before, after])
    expect(texts.slice(0, spoken).filter((text) => !text.includes('[REDACTED:secret]'))).toEqual([]);

  // A thief says the honeytoken, and keys that are none are told as that.
  const thief = await connectAgent(daemon.agent_url, agentTokens[1] ?? '');
  heard.push((await thief.call('hub__say', { way: decoy })).text, (await thief.call('scopegate_diagnose')).text);
  await put('rotate', Object.fromEntries(refs.map((ref) => [ref, nonsense])));
  oauth.tokenError = { status: 400, error: 'invalid_grant' };
  oauth.forgetAccess();
  heard.push(...(await answers(agent)));
  heard.push(...(await looksOf(house, daemon, run, 'after')));
  const caught = await recorded(daemon, 'honeytoken.triggered');
  expect(caught).toMatchObject([{ actor: 'agent:thief', facts: { ref: 'prod_deploy_2' } }]);
  heard.push(JSON.stringify(caught));
  for (const one of [agent, thief]) one.drop();
  heard.push(daemon.stderr());
  await daemon.stop();

  const values = [
    ...new Set([
      ...keys.flatMap(partsOf),
      ...tokensOf(providers),
      ...[hub, robot, workspace].flatMap((seen) => [...seen]).filter((value) => value !== 'nothing'),
      ...clientSecrets,
      ...placed,
      ...codes,
      ...agentTokens,
      decoy,
      operatorPassphrase,
      vaultPassphrase,
      'cAnArYnonsense-0b0b',
      'cAnArYnonsense-1c1c',
    ]),
  ];
  expect(huly.requests.length + google.issued.length).toBeGreaterThan(3);
  expect(values.every((value) => value.length >= 12)).toBe(true);
  expect(traces(heard.join('\n'), values)).toEqual([]);
  for (const folder of [house.home, ...['before', 'after'].map((when) => join(house.folder, when))])
    expect(traces(everyByte(folder), values)).toEqual([]);
  // The placed value is in the file it was asked for, what was there before beside it, and nothing in what says where it went.
  const holding = readdirSync(project).filter((name) => traces(readFileSync(join(project, name), 'latin1'), values).length > 0);
  expect(readFileSync(out, 'utf8')).toBe(`token=${placed[1]}\n`);
  expect(holding.filter((name) => !name.endsWith('.bak'))).toEqual(['.npmrc']);
}, 400_000);

function settings(urls: { readonly hub: string; readonly robot: string; readonly huly: string }, of: Providers): string {
  const { github, sts, google, huly, oauth } = of;
  const http = (url: string): object => ({ kind: 'http', url });
  const stdio = (variable: string): object => {
    const [command, ...args] = fixtureCommand('blabs', variable, 'also');
    return { kind: 'stdio', command, args };
  };
  const role = {
    type: 'aws_sts',
    secretRef: 'role_keys',
    roleArn: sts.roleArn,
    region: 'eu-central-1',
    endpoint: sts.url,
  };
  const app = { type: 'github_app', secretRef: 'app_key', appId: '4711', installationId: '815', apiUrl: github.url };
  const scopes = ['https://www.googleapis.com/auth/calendar'];
  const account = { type: 'huly', secretRef: 'huly_login', accountsUrl: huly.url, workspace: huly.workspace };
  const entries = [
    { name: 'hub', transport: http(urls.hub), auth: { ...app, repositories: ['acme/api'] } },
    {
      name: 'robot',
      transport: http(urls.robot),
      auth: { type: 'google_sa', secretRef: 'robot_file', scopes, tokenUrl: google.tokenUrl },
    },
    { name: 'huly', transport: http(urls.huly), auth: account },
    { name: 'cloud', transport: stdio('AWS_SECRET_ACCESS_KEY'), sharing: 'agent', auth: role },
    { name: 'session', transport: stdio('AWS_SESSION_TOKEN'), sharing: 'agent', auth: role },
    { name: 'login', transport: http(oauth.resource), auth: { type: 'oauth2', secretRef: 'login_record', clientId: 'by-hand' } },
  ];
  return `upstreams:\n${entries.map((entry) => `  - ${JSON.stringify(entry)}`).join('\n')}\n`;
}

/** Whatever a person or a program may look at; the record is exported to a folder of that name. */
async function looksOf(
  house: House,
  daemon: RunningDaemon,
  run: (args: readonly string[]) => Promise<string>,
  when: string,
): Promise<string[]> {
  const looked: string[] = [];
  const commands = [
    'upstream ls',
    'auth status',
    'secret ls',
    'git ls',
    'vault status',
    'vault slot ls',
    'inject ls',
    'honeytoken ls',
    'agent ls',
    'grants ls',
    'approvals list',
    'tools review',
    'operator status',
    'status',
    'defences',
  ];
  for (const words of commands) looked.push(await run([...words.split(' '), '--json']));
  const { host, port } = new URL(daemon.human_url);
  for (const path of ['/', '/metrics', '/v1/fleet.list', '/v1/vault.list-secrets', '/approvals/none'])
    looked.push((await exchange(`http://127.0.0.1:${port}${path}`, { method: 'GET', headers: { host } })).body);
  for (const path of ['/', '/mcp', '/metrics', '/git-credential'])
    looked.push((await exchange(new URL(path, daemon.agent_url), { method: 'GET' })).body);
  looked.push(await run(['audit', 'export', join(house.folder, when)]));
  looked.push(await run(['audit', 'query', '--limit', '200', '--json']));
  return looked;
}
