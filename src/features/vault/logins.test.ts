// Logins in the vault: what the daemon may write by itself, and what it may not.
import { expect, test } from 'vitest';
import { describeDatabases } from '../../../test/support/databases.ts';
import { bytes, keyFileSlot, openVaultHouse, operator, text, valueOf } from '../../../test/support/vault-house.ts';

const { signal } = new AbortController();
const unknown = expect.objectContaining({ code: 'vault.unknown_ref' });

describeDatabases('[STORE-1] logins in the vault', (open) => {
  test('[OAUTH-21] a login that a person signed for is renewed by the daemon, on the record', async () => {
    const { vault, audit } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.logins.keep('notion', bytes('first'), operator);
    await vault.logins.renew('notion', bytes('second'));
    expect(text((await vault.logins.value('notion', { signal })).value)).toBe('second');
    expect(audit.entries.at(-1)).toMatchObject({
      event: 'secret.rotated',
      actor: 'daemon',
      facts: { namespace: 'logins', ref: 'notion', version: 2 },
    });
  });

  test('[OAUTH-21] no secret of a person is written over, and no login is made, without a person', async () => {
    const { vault } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.secrets.add('github_token', bytes('a-value-of-a-person'), operator);
    await expect(vault.logins.renew('github_token', bytes('evil'))).rejects.toThrow(unknown);
    await expect(vault.logins.renew('nobody', bytes('evil'))).rejects.toThrow(unknown);
    expect(await valueOf(vault, 'github_token')).toBe('a-value-of-a-person');
  });

  test('[OAUTH-19] a login is handed out under no name of a secret', async () => {
    const { vault } = await openVaultHouse(await open());
    await vault.slots.create([keyFileSlot], operator);
    await vault.logins.keep('notion', bytes('a-login'), operator);
    expect([vault.known('notion'), vault.refs()]).toEqual([false, []]);
    await expect(vault.values(['notion'], { signal })).rejects.toThrow(unknown);
    expect(vault.logins.list()).toMatchObject([{ ref: 'notion', version: 1 }]);
  });
});
