// Honeytokens and placed secrets with the real program: commands of a person, an agent at its door, restarts, and a thief in the shell.
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectAgent } from '../support/agent-client.ts';
import { openHouse, recorded, type House } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  '*':
    capabilities:
      - { match: 'fix:call:*', effect: allow }
`;

const byFile = (house: House): Record<string, string> => ({ SALLYPORT_OPERATOR_PASSPHRASE_FILE: house.passphraseFile });

async function run(house: House, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await house.shell(args, byFile(house), input);
  expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
  return stdout;
}

async function home(): Promise<House> {
  return openHouse({ policies, seat: 'file' });
}

test('[DECOY-4] a suspension by a honeytoken outlives kill -9, denies look-ups too, and ends with the operator’s command', async () => {
  const house = await home();
  let daemon = await house.up();
  const token = JSON.parse(await run(house, ['agent', 'add', 'kimi', '--json'])) as { token: string };
  await run(house, ['secret', 'add', 'github_token'], 'an-honest-value');
  const planted = JSON.parse(await run(house, ['honeytoken', 'plant', 'aws_root_2', '--kind', 'aws', '--json'])) as {
    value: string;
  };

  // A shell without a passphrase sees two secrets, and not which is which.
  const shell = async (...args: string[]) => house.shell([...args, '--json']);
  expect((await shell('secret', 'ls')).stdout).toContain('aws_root_2');
  expect((await shell('honeytoken', 'ls')).code).not.toBe(0);
  expect((await shell('honeytoken', 'rm', 'aws_root_2')).code).not.toBe(0);
  expect((await shell('audit', 'query', '--limit', '200')).stdout.replaceAll(/"secret\.added".*?\}\}/g, '')).not.toContain(
    planted.value,
  );

  let agent = await connectAgent(daemon.agent_url, token.token);
  const { isError, text } = await agent.call('scopegate_can_i', { capability: 'vault:inject:aws_root_2' });
  expect([isError, text]).toEqual([
    true,
    expect.stringMatching(/^ERROR: The call of scopegate_can_i references honeytoken 'aws_root_2'/),
  ]);
  await daemon.kill();

  daemon = await house.up();
  agent = await connectAgent(daemon.agent_url, token.token);
  for (const tool of ['scopegate_can_i', 'scopegate_vault_status', 'scopegate_policy_summary'])
    expect((await agent.call(tool, tool === 'scopegate_can_i' ? { capability: 'fix:call:echo' } : {})).text).toContain(
      'is suspended',
    );
  expect(await recorded(daemon, 'honeytoken.triggered')).toMatchObject([{ actor: 'agent:kimi', facts: { ref: 'aws_root_2' } }]);
  expect(await run(house, ['agent', 'ls'])).toContain("honeytoken 'aws_root_2'");
  await run(house, ['agent', 'unsuspend', 'kimi']);
  agent = await connectAgent(daemon.agent_url, token.token);
  expect((await agent.call('scopegate_can_i', { capability: 'fix:call:echo' })).isError).toBe(false);
  await run(house, ['honeytoken', 'rm', 'aws_root_2']);
  expect((await agent.call('scopegate_can_i', { capability: 'vault:inject:aws_root_2' })).isError).toBe(false);
}, 90_000);

test('[FILE-5] an agent has a secret placed, a person rotates and refreshes it from where they stand, and a shell alone does neither', async () => {
  const house = await home();
  const daemon = await house.up();
  const { token } = JSON.parse(await run(house, ['agent', 'add', 'kimi', '--json'])) as { token: string };
  await run(house, ['secret', 'add', 'npm_token'], 'cAnArY-one-5512');
  const folder = join(house.folder, 'project');
  mkdirSync(folder);
  await run(house, ['inject', 'allow', `${folder}/**`]);
  expect((await house.shell(['inject', 'allow', `${house.folder}/**`])).code).not.toBe(0);

  const agent = await connectAgent(daemon.agent_url, token);
  const out = join(folder, '.npmrc');
  const args = { ref: 'npm_token', out, template: '//registry.example/:_authToken={{secret}}\n' };
  const pending = JSON.parse((await agent.call('scopegate_inject_file', args)).text) as { approval_id: string };
  expect(existsSync(out)).toBe(false);
  await run(house, ['approve', pending.approval_id]);
  expect(JSON.parse((await agent.call('scopegate_inject_file', args)).text)).toMatchObject({ materialized: true, out });
  expect(readFileSync(out, 'utf8')).toBe('//registry.example/:_authToken=cAnArY-one-5512\n');

  await run(house, ['secret', 'rotate', 'npm_token'], 'cAnArY-two-7781');
  expect((await house.shell(['inject', '--refresh', out])).code).toBe(1);
  await run(house, ['inject', '--refresh', out]);
  expect(readFileSync(out, 'utf8')).toBe('//registry.example/:_authToken=cAnArY-two-7781\n');
  expect(JSON.parse(await run(house, ['defences', '--json']))).toMatchObject({
    honeytokens: 'enforce',
    taint: 'alert',
    tainted: [],
  });
  await run(house, ['inject', '--ref', 'npm_token', '--out', join(folder, 'plain')]);
  expect(readFileSync(join(folder, 'plain'), 'utf8')).toBe('cAnArY-two-7781');
  for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  expect(await run(house, ['inject', 'ls'])).toContain(out);

  writeFileSync(`${out}.scopegate.json`, '{}');
  expect((await house.shell(['inject', '--refresh', out], byFile(house))).stderr).toContain('cannot be refreshed');
  const misuse = await house.shell(['inject', '--refresh', out, '--ref', 'npm_token'], byFile(house));
  expect([misuse.code, misuse.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('give --ref and --out, or --refresh alone'),
  ]);
  const everything = [house.home].flatMap((path) =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')),
  );
  for (const canary of ['cAnArY-one-5512', 'cAnArY-two-7781'])
    expect(everything.some((bytes) => bytes.includes(canary))).toBe(false);
}, 90_000);
