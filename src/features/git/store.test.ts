import { expect, test } from 'vitest';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { GitEntry } from './model.ts';
import { deleteEntry, gitMigrations, gitRights, insertEntry, readEntries } from './store.ts';

describeDatabases('[STORE-1] the accounts git is given tokens for', (open) => {
  const app = { secretRef: 'app_key', appId: '1', installationId: '2' };
  const entry = (host: string, owner: string, more: Partial<GitEntry> = {}): GitEntry => ({
    host,
    owner,
    access: 'read',
    app,
    ...more,
  });

  async function opened() {
    const db = await open();
    await db.migrate(gitMigrations);
    await db.migrate(gitMigrations);
    return db;
  }

  test('one for each host and owner, in code-point order, with everything that was signed', async () => {
    const db = await opened();
    const own = entry('ghe.acme.example:8443', 'acme', {
      access: 'write',
      app: { ...app, apiUrl: 'https://ghe.acme.example/api/v3' },
    });
    for (const one of [entry('github.com', 'zed'), own, entry('github.com', 'acme')]) {
      expect(await db.transaction((tx) => insertEntry(tx, one, 'now'))).toBe(true);
    }
    const again = entry('github.com', 'acme', { access: 'write' });
    expect(await db.transaction((tx) => insertEntry(tx, again, 'later'))).toBe(false);
    expect(await readEntries(db.queries)).toEqual([own, entry('github.com', 'acme'), entry('github.com', 'zed')]);
  });

  test('an entry goes alone and once', async () => {
    const db = await opened();
    for (const owner of ['acme', 'beta']) await db.transaction((tx) => insertEntry(tx, entry('github.com', owner), 'now'));
    expect(await db.transaction((tx) => deleteEntry(tx, { host: 'github.com', owner: 'acme' }))).toBe(true);
    expect(await db.transaction((tx) => deleteEntry(tx, { host: 'github.com', owner: 'acme' }))).toBe(false);
    expect((await readEntries(db.queries)).map(({ owner }) => owner)).toEqual(['beta']);
  });

  test('every column that gives a right is under the seal', async () => {
    const db = await opened();
    await db.transaction((tx) => insertEntry(tx, entry('github.com', 'acme'), 'now'));
    expect(await gitRights(db.queries)).toEqual([
      {
        host: 'github.com',
        owner: 'acme',
        access: 'read',
        secret_ref: 'app_key',
        app_id: '1',
        installation_id: '2',
        api_url: null,
      },
    ]);
  });
});
