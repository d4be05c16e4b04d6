// The real git with the program as its credential helper, set up by the lines that the program prints, against a host that opens by the
// tokens of a fake GitHub only.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { commitmentInput } from '../../src/kernel/carried-secret.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { startGithubApp } from '../fixtures/providers/github-app.ts';
import { startGitHost } from '../support/git-host.ts';
import { addAgent, decide, openHouse, recorded, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  mira:
    default_ttl: 10m
    capabilities:
      - { match: 'git:credential:127.0.0.1*/acme/api', effect: allow }
      - { match: 'git:credential:*', effect: ask }
`;

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function setUp() {
  const github = await startGithubApp({ repositories: ['api', 'web'] });
  onTestFinished(() => github.stop());
  const house = await openHouse({ policies });
  const daemon = await house.up();
  await addKey(house, daemon, github.privateKey);
  const hosted = await startGitHost(join(house.folder, 'hosted'), ['api', 'web'], github);
  const account = `${hosted.host}/acme`;
  await decide(house, daemon, 'git.allow', {
    account,
    app_id: '4711',
    installation_id: '815',
    secret_ref: 'app_key',
    api_url: github.url,
  });
  const token = await addAgent(house, daemon, 'mira');
  // `sallyport` as it is on the PATH of whoever installed it.
  const main = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url));
  const program = join(house.folder, 'sallyport');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    PATH: `${house.folder}:${process.env['PATH'] ?? ''}`,
    HOME: house.folder,
    SALLYPORT_HOME: house.home,
    SALLYPORT_TOKEN: token,
    GIT_CONFIG_GLOBAL: join(house.folder, 'gitconfig'),
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSL_NO_VERIFY: 'true',
  };
  const run = (command: string, args: readonly string[], input = '', more: Record<string, string> = {}): Promise<Ran> =>
    running(command, args, input, { ...env, ...more });
  const { stdout: lines } = await run('sallyport', ['git-credential', 'install']);
  await run('sh', ['-euc', lines]);
  return { github, house, daemon, hosted, run, lines };
}

function running(command: string, args: readonly string[], input: string, env: Record<string, string>): Promise<Ran> {
  const child = spawn(command, args, { env, stdio: 'pipe' });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (said[name] += chunk.toString()));
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })));
}

async function addKey(house: House, daemon: RunningDaemon, key: string): Promise<void> {
  const [value, salt] = [new TextEncoder().encode(key), new Uint8Array(32).fill(7)];
  const value_commitment = encodeBase64url(createHash('sha256').update(commitmentInput('value', { value, salt })).digest());
  const input = { ref: 'app_key', size: 4_096, value_commitment };
  const statement = await daemon.line.prepare('vault.add-secret', input);
  await daemon.line.operate('vault.add-secret', input, house.operator.prove(statement), { value: { value, salt } });
}

test('[GIT-9] git clones and fetches one repository with one token, and has nothing for another one', async () => {
  const { github, house, daemon, hosted, run, lines } = await setUp();
  expect(lines).toContain(`credential.https://${hosted.host}.useHttpPath true`);
  const into = join(house.folder, 'clone');
  const cloned = await run('git', ['clone', '--quiet', `https://${hosted.host}/acme/api.git`, into]);
  expect(cloned).toMatchObject({ code: 0 });
  expect((await run('git', ['-C', into, 'fetch', '--quiet'])).code).toBe(0);
  expect(github.issued).toMatchObject([{ repositories: ['api'], permissions: { contents: 'read' } }]);
  expect(new Set(hosted.passwords)).toEqual(new Set([github.issued[0]?.token]));

  const asked = await run('git', ['clone', '--quiet', `https://${hosted.host}/acme/web.git`, `${into}2`]);
  expect(asked.code).not.toBe(0);
  expect(asked.stderr).toMatch(/scopegate approve [0-9a-f-]{36}/);
  const id = /scopegate approve ([0-9a-f-]{36})/.exec(asked.stderr)?.[1] ?? '';
  await decide(house, daemon, 'approvals.approve', { id });
  expect((await run('git', ['clone', '--quiet', `https://${hosted.host}/acme/web.git`, `${into}2`])).code).toBe(0);

  // Nothing of it is left where git or a shell keeps things.
  for (const { token } of github.issued) {
    expect(readFileSync(join(into, '.git', 'config'), 'utf8')).not.toContain(token);
    expect(JSON.stringify(await recorded(daemon, 'call.outcome'))).not.toContain(token);
    expect(daemon.stderr()).not.toContain(token);
  }
  await daemon.stop();
  expect(github.issued.every(({ revoked }) => revoked)).toBe(true);
}, 60_000);

test('[GIT-9] a token that the host refuses is erased by git, and the next question gets another one', async () => {
  const { github, hosted, run, house } = await setUp();
  const url = `https://${hosted.host}/acme/api.git`;
  expect((await run('git', ['ls-remote', url])).code).toBe(0);
  // As if somebody had revoked it at GitHub.
  for (const issued of github.issued) issued.revoked = true;
  expect((await run('git', ['ls-remote', url])).code).not.toBe(0);
  expect((await run('git', ['ls-remote', url])).code).toBe(0);
  expect(github.issued).toHaveLength(2);
  expect(house.processes().length).toBeGreaterThan(0);
}, 60_000);

test('[GIT-8] git credential fill gets name, token and end, or a reason and nobody else is asked', async () => {
  const { github, hosted, run } = await setUp();
  const fill = (lines: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
    run('git', ['credential', 'fill'], [...lines, '', ''].join('\n'), more);
  const at = ['protocol=https', `host=${hosted.host}`];
  const filled = await fill([...at, 'path=acme/api.git']);
  expect(filled.stdout).toContain(`username=x-access-token\npassword=${github.issued[0]?.token}\n`);

  // A helper that knows another token for everything, asked after ours.
  const other = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'credential.helper',
    GIT_CONFIG_VALUE_0: '!echo username=u; echo password=wide; :',
  };
  const noToken = await fill([...at, 'path=acme/api.git'], { ...other, SALLYPORT_TOKEN: '' });
  expect([noToken.stdout, noToken.stderr.includes('SALLYPORT_TOKEN')]).toEqual(['', true]);
  const wrongToken = await fill([...at, 'path=acme/api.git'], { ...other, SALLYPORT_TOKEN: 'sp_wrong' });
  expect([wrongToken.stdout, wrongToken.stderr.includes('No agent has this token')]).toEqual(['', true]);
  const noPath = await fill(at, other);
  expect([noPath.stdout, noPath.stderr.includes('useHttpPath true')]).toEqual(['', true]);
  const denied = await fill([...at, 'path=acme/web'], other);
  expect([denied.stdout, denied.stderr.includes('scopegate approve')]).toEqual(['', true]);
  expect(github.issued).toHaveLength(1);
}, 60_000);

test('[GIT-8] asked directly it is silent about what is not its own', async () => {
  const { github, hosted, run } = await setUp();
  const helper = (action: string, lines: readonly string[]): Promise<Ran> =>
    run('sallyport', ['git-credential', action], [...lines, ''].join('\n'));
  const elsewhere = await helper('get', ['protocol=https', 'host=github.com.evil.org', 'path=acme/api']);
  expect([elsewhere.code, elsewhere.stdout, elsewhere.stderr.includes('no host')]).toEqual([0, '', true]);
  const own = ['protocol=https', `host=${hosted.host}`, 'path=acme/api'];
  for (const action of ['store', 'capability', 'some-day']) {
    expect(await helper(action, [...own, 'username=u', 'password=p'])).toEqual({ code: 0, stdout: '', stderr: '' });
  }
  const http = await helper('get', ['protocol=http', ...own.slice(1)]);
  expect([http.stdout, http.stderr.includes('https')]).toEqual(['quit=1\n', true]);
  // The last line with a name counts, as it does for git.
  const twice = await helper('get', ['host=evil.org', 'wwwauth[]=Basic', ...own]);
  expect(twice.stdout).toContain(`password=${github.issued[0]?.token}`);
  const help = await run('sallyport', ['git-credential', '--help']);
  expect(help.stdout).toContain("credential.https://github.com.helper '!sallyport git-credential'");
}, 60_000);
