// The slice over both databases and a real folder: the list of places, what is remembered of a placement, and what a failure leaves.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { createPlacedFiles } from '../../platform/placed-files.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit } from '../../../test/support/plain-audit.ts';
import { mostDestinations } from './model.ts';
import { createPlacements, type PlacementKeeping } from './placements.ts';
import { placementMigrations, placementRights } from './store.ts';

const operator = { actor: 'operator', proof: { key_id: '0123456789abcdef' } };
const standing = { actor: 'agent:kimi', facts: { approval: 'a-1' } };
const secret = (text: string, version = 1) => ({
  ref: 'token',
  version,
  value: new TextEncoder().encode(text),
  wipe: () => undefined,
});

describeDatabases('placements', (open) => {
  async function bench() {
    const folder = mkdtempSync(join(tmpdir(), 'placements-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const db = await open();
    await db.migrate(placementMigrations);
    const audit = createPlainAudit(db);
    const files = createPlacedFiles({ forbidden: [] });
    const deps = { db, audit, files, clock: createFakeClock(), entropy: createEntropy(), digest: createDigest() };
    const restart = (): Promise<PlacementKeeping> => createPlacements(deps);
    return { folder, out: join(folder, 'config'), db, audit, restart, placements: await restart() };
  }

  test('[FILE-3] the list of places survives a restart, is what rights come from, and takes effect at once', async () => {
    const { folder, out, db, audit, restart, placements } = await bench();
    await expect(placements.plan({ ref: 'token', out })).rejects.toMatchObject({ code: 'placements.not_allowed' });
    await placements.allow(`${folder}/**`, operator);
    await placements.allow('/srv/app/.env', operator);
    await expect(placements.allow(`${folder}/**`, operator)).rejects.toMatchObject({ code: 'placements.bad_destination' });
    expect((await restart()).destinations()).toEqual([`${folder}/**`, '/srv/app/.env'].toSorted());
    expect(await placementRights(db.queries)).toHaveLength(2);
    expect(audit.of('placement.allowed').map(({ facts }) => facts?.['proof'])).toEqual([operator.proof, operator.proof]);

    const plan = await placements.plan({ ref: 'token', out });
    await placements.disallow(`${folder}/**`, operator);
    // Planned before, and no longer allowed.
    await expect(placements.place(plan, secret('v'), standing)).rejects.toMatchObject({ code: 'placements.not_allowed' });
    expect(readdirSync(folder)).toEqual([]);
    await expect(placements.disallow('/nowhere', operator)).rejects.toMatchObject({ code: 'placements.unknown_destination' });
  });

  test('[FILE-3] entries that would allow everything, or whose spelling is not the only one, are refused', async () => {
    const { placements } = await bench();
    const refused = [
      '/**',
      '**',
      'x/**',
      '/a/../b',
      '/a//b',
      '/a/*',
      '/a/{b,c}',
      '/proc/**',
      '/dev/shm/**',
      '/a/\u200bb',
      '/a/',
      '~/x',
    ];
    for (const entry of refused) await expect(placements.allow(entry, operator)).rejects.toMatchObject({ kind: 'invalid' });
    expect(placements.destinations()).toEqual([]);
    for (let at = 0; at < mostDestinations; at += 1) await placements.allow(`/srv/${at}`, operator);
    await expect(placements.allow('/srv/more', operator)).rejects.toMatchObject({ kind: 'limited' });
  });

  test('[FILE-5] a placement is remembered with its template; an exact place needs no entry for what lies beside it', async () => {
    const { out, restart, placements } = await bench();
    await placements.allow(out, operator);
    const template = 'naïve "{{secret}}"\n';
    await placements.place(await placements.plan({ ref: 'token', out, template }), secret('one'), standing);
    const again = await restart();
    expect(await again.list()).toMatchObject([{ out, ref: 'token', version: 1, template }]);
    await again.place(await again.planAgain(out), secret('two', 2), standing);
    expect(readFileSync(out, 'utf8')).toBe('naïve "two"\n');
    expect(readFileSync(`${out}.bak`, 'utf8')).toBe('naïve "one"\n');
    expect(await again.list()).toMatchObject([{ version: 2 }]);
    writeFileSync(`${out}.scopegate.json`, Buffer.from([0xff, 0xfe]));
    await expect(again.planAgain(out)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('[FILE-6] without a record nothing is written; one that fails at the end leaves an open intent closed as an error', async () => {
    const { folder, out, audit, placements } = await bench();
    await placements.allow(`${folder}/**`, operator);
    const plan = await placements.plan({ ref: 'token', out });
    audit.fail(true);
    await expect(placements.place(plan, secret('v'), standing)).rejects.toMatchObject({ code: 'audit.unavailable' });
    expect(readdirSync(folder)).toEqual([]);
    audit.fail(false);
    writeFileSync(out, 'somebody was quicker');
    await expect(placements.place(plan, secret('v'), standing)).rejects.toMatchObject({ code: 'placements.changed' });
    expect(readFileSync(out, 'utf8')).toBe('somebody was quicker');
    expect(readdirSync(folder)).toEqual(['config']);
    expect(audit.of('call.intent')).toMatchObject([
      { actor: 'agent:kimi', facts: { capability: 'vault:inject:token', approval: 'a-1' } },
    ]);
    expect(audit.of('call.outcome')).toMatchObject([{ facts: { outcome: 'error' } }]);
    expect(await placements.list()).toEqual([]);
  });
});
