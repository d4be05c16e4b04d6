import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createAuditHome } from '../../../test/support/audit-home.ts';
import { createDigest } from '../../platform/crypto.ts';
import type { AuditEntry } from './model.ts';
import { sealText } from './record.ts';

const granted: AuditEntry = { event: 'grant.issued', actor: 'agent:a', facts: { capability: 'x:call:y' } };
const call: AuditEntry = { event: 'call.intent', actor: 'agent:a', facts: { tool: 'x__y' } };
const unavailable = expect.objectContaining({ code: 'audit.unavailable', kind: 'unavailable' });

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('appending', () => {
  it('writes each record at once, in order, under ids that are unique and ordered by time', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const ids = Array.from({ length: 300 }, () => audit.append(granted).id);
    const records = await home.records();
    expect(records.map(({ event }) => event)).toEqual(['log.opened', ...ids.map(() => 'grant.issued')]);
    expect(records.slice(1).map(({ id }) => id)).toEqual(ids);
    expect(new Set(ids).size).toBe(300);
    expect(audit.status()).toEqual({ available: true, records: 301 });
  });

  it('never lets time go back, whatever the clock of the machine does', async () => {
    const home = await createAuditHome();
    await (await home.start()).close();
    const audit = await home.start({ clock: { ...home.clock, now: () => 5 } });
    audit.append(granted);
    const times = (await home.records()).map(({ t }) => t);
    expect(times).toEqual([times[0], times[0]]);
  });

  it('[AUD-13] keeps no sealed text, only a digest under a salt of that record', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const sealed = { args: '{"pin":"1234"}' };
    const { id } = audit.append({ ...granted, sealed });
    const again = audit.append({ ...granted, sealed });
    const [, first, second] = await home.records();
    expect(fs.readFileSync(home.path('segments', '0000000000000000.seg'), 'utf8')).not.toContain('1234');
    expect(first?.sealed?.['args']).not.toBe(second?.sealed?.['args']);
    const digest = createDigest();
    expect(first?.sealed?.['args']).toBe(sealText(digest, audit.evidence.saltOf(id), sealed.args));
    expect(first?.sealed?.['args']).not.toBe(sealText(digest, audit.evidence.saltOf(again.id), sealed.args));
    expect(first?.sealed?.['args']).not.toBe(Buffer.from(digest.sha256(sealed.args)).toString('base64url'));
  });

  it('refuses an entry that no record can hold and writes nothing of it', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const bad = expect.objectContaining({ code: 'audit.bad_entry' });
    expect(() => audit.append({ ...granted, facts: { share: 0.5 } })).toThrow(bad);
    expect(() => audit.append({ ...granted, facts: { big: 2 ** 53 } })).toThrow(bad);
    expect(() => audit.append({ ...granted, facts: { text: 'x'.repeat(70_000) } })).toThrow(bad);
    expect(() => audit.append({ ...granted, facts: { text: 'é'.repeat(33_000) } })).toThrow(bad);
    audit.append({ ...granted, facts: { text: 'x'.repeat(60_000) } });
    expect(audit.status().records).toBe(2);
    expect(await home.records()).toHaveLength(2);
  });

  it('rolls segments at their bound and reads on across them after a restart', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    for (let index = 0; index < 1_000; index += 1) audit.append(granted);
    await audit.close();
    expect(fs.readdirSync(home.path('segments')).length).toBeGreaterThan(2);
    const again = await home.start();
    expect(again.status().records).toBe(1_001);
    again.append(granted);
    expect(await home.records()).toHaveLength(1_002);
  });
});

describe('intents', () => {
  it('[AUD-10] the intent is on the record when its effect may start, and on stable storage when synced', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const onRecord = (id: string): boolean => fs.readFileSync(home.path('segments', '0000000000000000.seg'), 'utf8').includes(id);
    const written = await audit.intent(call, 'written');
    expect(onRecord(written.id)).toBe(true);
    const { syncs } = home.files;
    const synced = await audit.intent(call, 'synced');
    expect(onRecord(synced.id)).toBe(true);
    expect(home.files.syncs).toBe(syncs + 1);
    synced.close('ok', { bytes: 12 }, { result: 'secret' });
    synced.close('error');
    await audit.evidence.settle();
    const records = await home.records();
    expect(records.at(-1)).toMatchObject({ event: 'call.outcome', intent: synced.id, facts: { outcome: 'ok', bytes: 12 } });
    expect(records).toHaveLength(4);
    expect(JSON.stringify(records)).not.toContain('secret');
    await expect(audit.intent(granted, 'written')).rejects.toMatchObject({ code: 'audit.bad_entry' });
  });

  it('[AUD-10] intents and outcomes of one turn share one write, in their order, and an append takes along what waits', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const { writes } = home.files;
    const [first, second] = await Promise.all([audit.intent(call, 'written'), audit.intent(call, 'written')]);
    expect(home.files.writes).toBe(writes + 1);
    first.close('ok');
    const third = audit.intent(call, 'written');
    expect(home.files.writes).toBe(writes + 1);
    const { id } = audit.append(granted);
    expect(home.files.writes).toBe(writes + 2);
    second.close('ok');
    await endOfTurn();
    const events = (await home.records()).map((record) => record.intent ?? record.id);
    expect(events.slice(1)).toEqual([first.id, second.id, first.id, (await third).id, id, second.id]);
    expect(home.files.writes).toBe(writes + 3);
  });

  it('[AUD-10] more intents than fit into one write are all on the record, in their order', async () => {
    const home = await createAuditHome();
    const audit = await home.start({ segmentBytes: 1 << 20 });
    const { writes } = home.files;
    const large = { ...call, facts: { text: 'x'.repeat(60_000) } };
    const intents = await Promise.all(Array.from({ length: 10 }, () => audit.intent(large, 'written')));
    expect((await home.records()).slice(1).map(({ id }) => id)).toEqual(intents.map(({ id }) => id));
    expect(home.files.writes - writes).toBeGreaterThan(2);
    expect(home.files.writes - writes).toBeLessThan(10);
  });

  it('[AUD-10] an outcome that a kill took before its write closes as unknown at the next start', async () => {
    const home = await createAuditHome();
    const intent = await (await home.start()).intent(call, 'written');
    intent.close('ok');
    home.crash();
    await home.start();
    expect((await home.records()).at(-1)).toMatchObject({ intent: intent.id, facts: { outcome: 'unknown' } });
  });

  it('[AUD-10] an intent without outcome closes as unknown at the next start, exactly once', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const before = await audit.intent(call, 'written');
    const done = await audit.intent(call, 'written');
    await audit.appendSynced(granted);
    home.clock.advance(1_000);
    await audit.evidence.settle();
    done.close('ok');
    const after = await audit.intent({ ...call, actor: 'agent:b' }, 'written');
    home.crash();
    await (await home.start()).close();
    await home.start();
    const outcomes = (await home.records()).filter(({ event }) => event === 'call.outcome');
    expect(outcomes.map(({ intent, actor, facts }) => [intent, actor, facts?.['outcome']])).toEqual([
      [done.id, 'agent:a', 'ok'],
      [before.id, 'agent:a', 'unknown'],
      [after.id, 'agent:b', 'unknown'],
    ]);
  });

  it('[AUD-10] an outcome is recorded even when the facts about it cannot be', async () => {
    const home = await createAuditHome();
    const intent = await (await home.start()).intent(call, 'written');
    intent.close('timeout', { ms: 1.5 });
    await home.audit.evidence.settle();
    expect((await home.records()).at(-1)).toMatchObject({ intent: intent.id, facts: { outcome: 'timeout', unrecordable: true } });
  });
});

describe('checkpoints', () => {
  const signedSizes = (list: string): number[] => [...list.matchAll(/^sallyport\/test\n(\d+)$/gm)].map(([, size]) => Number(size));

  it('[AUD-2] are signed once a second while records arrive, not for each record and not while nothing happens', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const signed = async (): Promise<number[]> => signedSizes((await home.files.readText(home.path('checkpoints.txt'))) ?? '');
    for (let index = 0; index < 5; index += 1) audit.append(granted);
    home.clock.advance(999);
    expect(await signed()).toEqual([1]);
    home.clock.advance(1);
    await expect.poll(signed).toEqual([1, 6]);
    home.clock.advance(10_000);
    await audit.evidence.settle();
    expect(await signed()).toEqual([1, 6]);
  });

  it('[AUD-2] a decision is under a durable checkpoint when its commit resolves', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    await audit.commit(async () => ({ value: 1, entries: [granted] }));
    expect(signedSizes(fs.readFileSync(home.path('checkpoints.txt'), 'utf8'))).toEqual([1]);
    await audit.commit(async () => ({ value: 1, entries: [granted] }), { decision: true });
    expect(signedSizes(fs.readFileSync(home.path('checkpoints.txt'), 'utf8'))).toEqual([1, 3]);
  });
});

describe('a full disk', () => {
  it('[AUD-12] refuses what must be recorded with what to do, keeps nothing half-written, and recovers by itself', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    audit.append(granted);
    home.files.full = true;
    expect(() => audit.append(granted)).toThrow(unavailable);
    expect(() => audit.assertAvailable()).toThrow(
      expect.objectContaining({ hint: 'Make room on the disk that holds the audit log; it goes on by itself within a second.' }),
    );
    let ran = false;
    const work = async (): Promise<{ value: number; entries: AuditEntry[] }> => {
      ran = true;
      return { value: 1, entries: [granted] };
    };
    await expect(audit.commit(work)).rejects.toEqual(unavailable);
    expect(ran).toBe(false);
    await expect(audit.intent(call, 'written')).rejects.toEqual(unavailable);
    expect(audit.status()).toEqual({ available: false, reason: 'the disk is full', records: 2 });
    home.clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(audit.status().available).toBe(false);

    home.files.full = false;
    home.clock.advance(1_000);
    await expect.poll(() => audit.status().available).toBe(true);
    audit.append(granted);
    const records = await home.records();
    expect(records.map(({ event }) => event)).toEqual(['log.opened', 'grant.issued', 'log.recovered', 'grant.issued']);
    expect(records[2]?.facts).toMatchObject({ reason: 'the disk is full', down_ms: 2_000, refused: 3 });
  });

  it('[AUD-12] [AUD-10] an outcome that found no room is written first when there is room again', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const intent = await audit.intent(call, 'written');
    home.files.full = true;
    intent.close('ok');
    await expect.poll(() => audit.status().available).toBe(false);
    home.files.full = false;
    home.clock.advance(1_000);
    await expect.poll(() => audit.status().available).toBe(true);
    const records = await home.records();
    expect(records.slice(-2).map(({ event }) => event)).toEqual(['call.outcome', 'log.recovered']);
  });

  it('[AUD-12] [AUD-10] a disk that fills up within a turn refuses every intent of the turn and keeps every outcome', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    const running = [await audit.intent(call, 'written'), await audit.intent(call, 'written')];
    const before = await home.records();
    running[0]?.close('ok');
    const asked = [audit.intent(call, 'written'), audit.intent(call, 'synced')];
    running[1]?.close('error');
    home.files.full = true;
    expect(await Promise.allSettled(asked)).toEqual(asked.map(() => ({ status: 'rejected', reason: unavailable })));
    expect(await home.records()).toEqual(before);
    home.files.full = false;
    home.clock.advance(1_000);
    await expect.poll(() => audit.status().available).toBe(true);
    const late = (await home.records()).slice(before.length);
    expect(late.map(({ event, intent }) => [event, intent])).toEqual([
      ['call.outcome', running[0]?.id],
      ['call.outcome', running[1]?.id],
      ['log.recovered', undefined],
    ]);
  });

  it('[AUD-12] refusals while the disk is full throw nothing and are counted into the next record of their kind', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    home.files.full = true;
    const refused: AuditEntry = { event: 'door.refused', actor: 'local', facts: { reason: 'token' } };
    for (let index = 0; index < 3; index += 1) audit.appendQuietly(refused);
    home.files.full = false;
    home.clock.advance(1_000);
    await expect.poll(() => audit.status().available).toBe(true);
    audit.appendQuietly(refused);
    expect((await home.records()).at(-1)).toMatchObject({ event: 'door.refused', facts: { reason: 'token', unrecorded: 3 } });
  });

  it('a failed sync refuses everything until a restart, since nobody knows what the disk holds', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    home.files.deaf = true;
    await expect(audit.appendSynced(granted)).rejects.toEqual(unavailable);
    home.files.deaf = false;
    home.clock.advance(60_000);
    expect(() => audit.assertAvailable()).toThrow(unavailable);
    await expect(audit.intent(call, 'written')).rejects.toEqual(unavailable);
    home.crash();
    expect((await home.start()).status().available).toBe(true);
  });
});

describe('refusals', () => {
  it('are recorded ten times a second of each kind; the rest is counted, on the record when the second is over', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    for (let index = 0; index < 100; index += 1) audit.appendQuietly({ event: 'door.refused', actor: 'local' });
    audit.appendQuietly({ event: 'call.refused', actor: 'agent:a', facts: { ratio: 0.1 } });
    home.clock.advance(1_000);
    audit.appendQuietly({ event: 'door.refused', actor: 'local' });
    for (let index = 0; index < 15; index += 1) audit.appendQuietly({ event: 'door.refused', actor: 'local' });
    await audit.close();
    const records = await home.records();
    const doors = records.filter(({ event }) => event === 'door.refused');
    expect(doors).toHaveLength(10 + 1 + 10 + 1);
    expect(doors[10]).toMatchObject({ actor: 'daemon', facts: { unrecorded: 90 }, t: doors[0]!.t + 1_000 });
    expect(doors.at(-1)).toMatchObject({ actor: 'daemon', facts: { unrecorded: 6 } });
    expect(records.find(({ event }) => event === 'call.refused')?.facts).toEqual({ oversized: true });
  });
});
