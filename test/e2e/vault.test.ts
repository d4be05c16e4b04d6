// The vault as people and scripts use it: the real program, real files, a real restart. Canaries in every value, and nowhere else.
import { copyFileSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openHouse, type House } from '../support/running-daemon.ts';

const canaries = [
  'cAnArY-first-81f0b2',
  'cAnArY-second-2c9d47',
  '-----BEGIN KEY-----\ncAnArY-third-66aa01\n-----END KEY-----',
] as const;
const passphrase = 'another horse battery staple';

function byFile(house: House): Record<string, string> {
  return { SALLYPORT_OPERATOR_PASSPHRASE_FILE: house.passphraseFile };
}

function vaultFile(house: House): Record<string, string> {
  const path = join(house.folder, 'vault-passphrase');
  writeFileSync(path, `${passphrase}\n`, { mode: 0o600 });
  return { SALLYPORT_VAULT_PASSPHRASE_FILE: path };
}

/** Every byte of every file of the home, the database's log of writes included. */
function everyByte(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n');
}

function traces(text: string): string[] {
  return canaries.flatMap((canary) => {
    const plain = /cAnArY-\w+-\w+/.exec(canary)?.[0] ?? '';
    const forms = [
      plain,
      ...[canary, plain].flatMap((one) => (['base64', 'base64url', 'hex'] as const).map((form) => Buffer.from(one).toString(form))),
    ];
    return forms.filter((form) => text.includes(form));
  });
}

test('[SECRET-1] [VAULT-3] one command with the value on standard input, unattended; after a restart it is there, without anybody', async () => {
  const house = await openHouse({ seat: 'file' });
  const daemon = await house.up();
  const said: string[] = [];
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await house.shell(args, byFile(house), input);
    said.push(stdout, stderr);
    expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
    return stdout;
  };
  expect(JSON.parse(await run(['secret', 'add', 'github_token', '--json'], `${canaries[0]}\n`))).toMatchObject({
    ref: 'github_token',
    version: 1,
  });
  await run(['secret', 'rotate', 'github_token'], canaries[1]);
  await run(['secret', 'add', 'deploy_key'], canaries[2]);
  expect(statSync(house.path('keys', 'vault.key')).mode & 0o777).toBe(0o600);
  expect(await run(['vault', 'status'])).toContain('The vault is open, with 2 secrets.');
  said.push(daemon.stderr());
  await daemon.kill();

  const again = await house.up();
  expect(JSON.parse(await run(['vault', 'status', '--json']))).toMatchObject({ state: 'open', secrets: 2 });
  expect(await run(['secret', 'ls'])).toMatch(/deploy_key +1 .*\n.*github_token +2 /);
  await run(['secret', 'rm', 'deploy_key']);
  expect((JSON.parse(await run(['audit', 'verify', '--json'])) as { ok: boolean }).ok).toBe(true);
  said.push(await run(['audit', 'query', '--limit', '200', '--json']), again.stderr());
  // SECRET-3: no output, no line of the log, no file.
  expect(traces(said.join('\n'))).toEqual([]);
  expect(traces(everyByte(house.home))).toEqual([]);
}, 90_000);

test('[SECRET-1] [SECRET-3] what is wrong with a value is said without it, and nothing is stored', async () => {
  const house = await openHouse({ seat: 'file' });
  const daemon = await house.up();
  const attempts: [string[], string, RegExp][] = [
    [['secret', 'add', 'a'], '', /it is empty/],
    [['secret', 'add', 'a'], `${canaries[0]}\0`, /NUL/],
    [['secret', 'add', 'a'], canaries[0].padEnd(70_000, 'x'), /longer than 65536 bytes/],
    [['secret', 'rotate', 'a'], canaries[0], /There is no secret 'a'/],
  ];
  for (const [args, input, why] of attempts) {
    const { code, stdout, stderr } = await house.shell(args, byFile(house), input);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(why);
    expect(traces(stderr)).toEqual([]);
  }
  const unknown = await house.shell(['secret', 'add', 'Not A Ref'], byFile(house), canaries[0]);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('REF: A reference has')]);
  const argument = await house.shell(['secret', 'add', 'a', canaries[0]], byFile(house), '');
  expect(argument.code).toBe(2);
  // Without the passphrase nobody adds anything, and the attempt is on the record.
  const shell = await house.shell(['secret', 'add', 'a'], {}, canaries[0]);
  expect([shell.code, shell.stderr]).toEqual([1, expect.stringContaining('SALLYPORT_OPERATOR_PASSPHRASE_FILE')]);
  expect((await house.shell(['secret', 'ls', '--json'])).stdout).toBe('[]\n');
  expect((await house.shell(['audit', 'query', '--event', 'operation.refused', '--json'])).stdout).toContain('vault.add-secret');
  expect(traces(everyByte(house.home) + daemon.stderr())).toEqual([]);
}, 90_000);

test('[VAULT-3] [VAULT-4] with a passphrase alone it starts locked where nobody types, and opens from a file', async () => {
  const house = await openHouse({ seat: 'file' });
  const first = await house.up();
  const both = { ...byFile(house), ...vaultFile(house) };
  const made = await house.shell(['vault', 'init', 'passphrase'], both);
  expect([made.code, made.stdout]).toEqual([0, 'The vault is made. It opens with a passphrase.\n']);
  expect((await house.shell(['secret', 'add', 'a'], both, canaries[0])).code).toBe(0);
  await first.stop();

  const second = await house.up();
  expect(second.stderr()).toContain('the vault stays locked; open it with: sallyport vault unlock');
  const locked = await house.shell(['secret', 'add', 'b'], byFile(house), canaries[1]);
  expect([locked.code, locked.stderr]).toEqual([1, expect.stringContaining('sallyport vault unlock')]);
  // The operator's passphrase is another one; nothing of it reaches the daemon.
  expect((await house.shell(['vault', 'unlock'], byFile(house))).stderr).toContain('That does not open the vault');
  expect((await house.shell(['vault', 'unlock'])).stderr).toContain('SALLYPORT_VAULT_PASSPHRASE_FILE');
  expect(await house.shell(['vault', 'unlock', '--json'], vaultFile(house))).toMatchObject({
    code: 0,
    stdout: '{"state":"open"}\n',
  });
  await second.stop();

  const third = await house.up(vaultFile(house));
  expect(JSON.parse((await house.shell(['vault', 'status', '--json'])).stdout)).toMatchObject({ state: 'open', secrets: 1 });
  expect(traces(everyByte(house.home) + third.stderr())).toEqual([]);
  expect(everyByte(house.home)).not.toContain(passphrase);
}, 90_000);

test('[VAULT-6] the recovery code opens the vault once, and its successor after that', async () => {
  const house = await openHouse({ seat: 'file' });
  await house.up();
  const both = { ...byFile(house), ...vaultFile(house) };
  await house.shell(['vault', 'init', 'passphrase'], both);
  const { recovery_code: code } = JSON.parse((await house.shell(['vault', 'slot', 'add', 'recovery', '--json'], both)).stdout) as {
    recovery_code: string;
  };
  await house.shell(['vault', 'lock']);
  const slip = await house.shell(['vault', 'recover'], both, `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`);
  expect([slip.code, slip.stderr]).toEqual([1, expect.stringContaining('This is not a recovery code')]);
  const recovered = await house.shell(['vault', 'recover', '--json'], both, `${code.toLowerCase()}\n`);
  const { recovery_code: next, state } = JSON.parse(recovered.stdout) as { recovery_code: string; state: string };
  expect([state, next === code]).toEqual(['open', false]);
  await house.shell(['vault', 'lock']);
  expect((await house.shell(['vault', 'recover'], both, code)).stderr).toContain('That does not open the vault');
  expect((await house.shell(['vault', 'recover'], both, next)).code).toBe(0);
  for (const one of [code, next]) expect(everyByte(house.home)).not.toContain(one);
}, 90_000);

test('[VAULT-7] an older copy of the vault in the database keeps the daemon from starting; an edited value keeps the vault shut', async () => {
  const house = await openHouse({ seat: 'file' });
  const daemon = await house.up();
  await house.shell(['secret', 'add', 'a'], byFile(house), canaries[0]);
  await daemon.stop();
  copyFileSync(house.path('state.db'), join(house.folder, 'old.db'));
  const rows = (path: string) => {
    const database = new DatabaseSync(path);
    const found = {
      head: database.prepare('select * from vault_head').get(),
      entries: database.prepare('select * from vault_entry').all(),
    };
    database.close();
    return found;
  };
  const old = rows(join(house.folder, 'old.db'));
  const next = await house.up();
  await house.shell(['secret', 'rotate', 'a'], byFile(house), canaries[1]);
  await next.stop();

  const database = new DatabaseSync(house.path('state.db'));
  const newest = rows(house.path('state.db'));
  const write = ({ head, entries }: ReturnType<typeof rows>): void => {
    database.exec('delete from vault_head; delete from vault_entry');
    for (const [table, row] of [['vault_head', head], ...entries.map((entry) => ['vault_entry', entry] as const)] as const) {
      const values = Object.values(row ?? {});
      database.prepare(`insert into ${table} values (${values.map(() => '?').join(',')})`).run(...values);
    }
  };
  write(old);
  const refused = await house.upAndEnd();
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('The state in the database is not the one on the record'),
  ]);

  write({ ...newest, entries: old.entries });
  database.close();
  await house.up();
  const { stdout } = await house.shell(['vault', 'status']);
  expect(stdout).toContain('The vault is damaged');
  expect((await house.shell(['secret', 'rotate', 'a'], byFile(house), canaries[2])).stderr).toContain('somebody edited them');
}, 90_000);
