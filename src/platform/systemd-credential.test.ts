import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSystemdCredential, credentialName } from './systemd-credential.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'credentials-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(content: string, mode = 0o400): void {
  const path = join(folder, credentialName);
  rmSync(path, { force: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

const secret = 'c'.repeat(44);

test('[VAULT-8] a credential is read without the line break behind it', async () => {
  put(`${secret}\n`);
  const key = createSystemdCredential(folder);
  expect(new TextDecoder().decode(await key.read('slot'))).toBe(secret);
  expect(new TextDecoder().decode(await key.make('slot'))).toBe(secret);
  // Read under a service manager that grants it with an access list.
  put(secret, 0o440);
  expect(new TextDecoder().decode(await key.read('slot'))).toBe(secret);
});

test('[VAULT-8] without systemd, or without the credential, there is none; a slot cannot be made of it', async () => {
  for (const directory of [undefined, '', folder]) {
    const key = createSystemdCredential(directory);
    expect(await key.read('slot')).toBeUndefined();
    await expect(key.make('slot')).rejects.toMatchObject({
      code: 'vault.start_key',
      hint: expect.stringContaining('systemd-creds') as string,
    });
  }
});

test('[VAULT-8] one that is short, huge, a link or open to everybody is refused without showing it', async () => {
  const key = createSystemdCredential(folder);
  const refusals: [() => void, string][] = [
    [() => put('short-canary'), 'it needs 32'],
    [() => put('x'.repeat(5_000)), 'longer than'],
    [() => put(secret, 0o444), 'everybody'],
    [
      () => {
        rmSync(join(folder, credentialName), { force: true });
        writeFileSync(join(folder, 'elsewhere'), secret, { mode: 0o400 });
        symlinkSync(join(folder, 'elsewhere'), join(folder, credentialName));
      },
      'ELOOP',
    ],
  ];
  for (const [arrange, why] of refusals) {
    arrange();
    const refused = await key.read('slot').then(
      () => new Error('it was read'),
      (thrown: unknown) => thrown as Error,
    );
    expect(refused.message).toContain(why);
    expect(refused.message).not.toMatch(/canary|cccc/);
  }
});
