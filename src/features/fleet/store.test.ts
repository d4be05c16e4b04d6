import { expect, test } from 'vitest';
import { describeDatabases } from '../../../test/support/databases.ts';
import {
  deleteAcceptance,
  fleetMigrations,
  markPinned,
  markReported,
  readAcceptances,
  readPins,
  writeAcceptance,
  writeOffer,
  writePin,
} from './store.ts';

describeDatabases('[STORE-1] the fleet’s rows', (open) => {
  const key = { upstream: 'up', specDigest: 'd1' };
  const pin = (tool: string, hash = `h-${tool}`) => ({ tool, hash, text: `{"name":"${tool}"}` });

  async function opened() {
    const db = await open();
    await db.migrate(fleetMigrations);
    await db.migrate(fleetMigrations);
    return db;
  }

  test('an acceptance replaces the one before, and goes', async () => {
    const db = await opened();
    await db.transaction((tx) => writeAcceptance(tx, { ...key, program: undefined }, 'then', 'null'));
    await db.transaction((tx) =>
      writeAcceptance(tx, { upstream: 'up', specDigest: 'd2', program: '/bin/x' }, 'now', '{"key_id":"k"}'),
    );
    expect(await readAcceptances(db.queries)).toEqual([{ upstream: 'up', specDigest: 'd2', program: '/bin/x' }]);
    await db.transaction((tx) => deleteAcceptance(tx, 'up'));
    expect(await readAcceptances(db.queries)).toEqual([]);
  });

  test('a report and a first listing happen once for each digest', async () => {
    const db = await opened();
    for (const mark of [
      markReported,
      (tx: Parameters<typeof markReported>[0], which: typeof key) => markPinned(tx, which, 'now'),
    ]) {
      expect(await db.transaction((tx) => mark(tx, key))).toBe(true);
      expect(await db.transaction((tx) => mark(tx, key))).toBe(false);
      expect(await db.transaction((tx) => mark(tx, { ...key, specDigest: 'd2' }))).toBe(true);
    }
  });

  test('pins and quarantine of one spec are its own, and a pin ends a quarantine', async () => {
    const db = await opened();
    expect(await readPins(db.queries, key)).toEqual({ pinned: false, pins: [], served: [], quarantined: [] });
    await db.transaction(async (tx) => {
      await markPinned(tx, key, 'now');
      await writePin(tx, key, pin('a'));
      await writePin(tx, key, pin('b'));
      await writePin(tx, { ...key, specDigest: 'd2' }, pin('a', 'other'));
    });
    await db.transaction((tx) => writeOffer(tx, key, ['a'], [pin('b', 'changed'), { ...pin('n*'), unusable: 'its name' }]));
    const stored = await readPins(db.queries, key);
    expect(stored).toMatchObject({ pinned: true, served: ['a'] });
    expect(Object.fromEntries(stored.pins.map(({ tool, hash }) => [tool, hash]))).toEqual({ a: 'h-a', b: 'h-b' });
    expect(stored.quarantined.toSorted((x, y) => (x.tool < y.tool ? -1 : 1))).toEqual([
      pin('b', 'changed'),
      { ...pin('n*'), unusable: 'its name' },
    ]);
    await db.transaction((tx) => writePin(tx, key, pin('b', 'changed')));
    const after = await readPins(db.queries, key);
    expect(after.served.toSorted()).toEqual(['a', 'b']);
    expect(after.quarantined.map(({ tool }) => tool)).toEqual(['n*']);
    expect((await readPins(db.queries, { ...key, specDigest: 'd2' })).pins).toEqual([pin('a', 'other')]);
  });

  test('a list of very many tools is one offer', async () => {
    const db = await opened();
    const tools = Array.from({ length: 1_200 }, (_, at) => `t${at}`);
    await db.transaction(async (tx) => {
      for (const tool of tools) await writePin(tx, key, pin(tool));
      await writeOffer(tx, key, tools.slice(1), []);
    });
    expect((await readPins(db.queries, key)).served).toHaveLength(1_199);
  });
});
