import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createAuditHome, silentLog, type AuditHome } from '../../../test/support/audit-home.ts';
import { createDigest, createVerifier, signerFromSeed } from '../../platform/crypto.ts';
import { splitNotes } from './checkpoint.ts';
import type { AuditEntry } from './model.ts';
import { listSegments, splitFrames } from './scan.ts';
import { verifyFolder } from './verify.ts';

const granted: AuditEntry = { event: 'grant.issued', actor: 'agent:a' };
const lastSegment = async (home: AuditHome): Promise<string> => (await listSegments(home.files, home.folder)).at(-1)?.path ?? '';
const verifies = async (home: AuditHome): Promise<unknown[]> => [
  ...(await verifyFolder(home.files, home.folder, { digest: createDigest(), verifier: createVerifier() })).problems,
];
const locked = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'audit.locked', message: expect.stringMatching(message) as string });

/** `count` records under a checkpoint, then three more without one, then a crash. */
async function crashed(count: number): Promise<AuditHome> {
  const home = await createAuditHome();
  const audit = await home.start();
  for (let index = 1; index < count; index += 1) audit.append(granted);
  await audit.evidence.settle();
  for (let index = 0; index < 3; index += 1) audit.append(granted);
  home.crash();
  return home;
}

describe('a torn tail', () => {
  it.each([1, 2, 40])(
    '[AUD-14] of %i bytes is cut back to whole records, kept aside, and the loss is on the record',
    async (bytes) => {
      const home = await crashed(300);
      const path = await lastSegment(home);
      const { ends } = splitFrames(fs.readFileSync(path));
      fs.truncateSync(path, (ends.at(-2) as number) + bytes);
      const audit = await home.start();
      expect(audit.status().records).toBe(303);
      expect((await home.records()).at(-1)).toMatchObject({
        event: 'log.recovered',
        facts: { reason: 'torn tail', lost_bytes: bytes },
      });
      expect(fs.readdirSync(home.path('torn'))).toHaveLength(1);
      expect(fs.statSync(home.path('torn', fs.readdirSync(home.path('torn'))[0] as string)).size).toBe(bytes);
      await audit.close();
      expect(await verifies(home)).toEqual([]);
    },
  );

  it('[AUD-14] of zeros or noise, as a power cut leaves it, is cut likewise', async () => {
    for (const noise of [
      new Uint8Array(4_096),
      Uint8Array.from({ length: 300 }, (_, at) => (at === 0 ? 0 : at === 1 ? 200 : at % 256)),
    ]) {
      const home = await crashed(10);
      fs.appendFileSync(await lastSegment(home), noise);
      const audit = await home.start();
      expect((await home.records()).at(-1)).toMatchObject({ event: 'log.recovered', facts: { lost_bytes: noise.length } });
      expect(audit.status().records).toBe(14);
    }
  });

  it('[AUD-14] takes later segments with it when the break is before them', async () => {
    const home = await createAuditHome();
    const audit = await home.start({ segmentBytes: 1_000 });
    await audit.evidence.settle();
    for (let index = 0; index < 40; index += 1) audit.append(granted);
    home.crash();
    const segments = await listSegments(home.files, home.folder);
    expect(segments.length).toBeGreaterThan(3);
    fs.truncateSync(segments[1]?.path ?? '', 10);
    const again = await home.start({ segmentBytes: 1_000 });
    expect(again.status().records).toBe((segments[1]?.first ?? 0) + 1);
    await again.close();
    expect(await verifies(home)).toEqual([]);
  });

  it('[AUD-14] nothing is cut and nothing is reported when nothing is torn', async () => {
    const home = await crashed(300);
    const audit = await home.start();
    expect(audit.status().records).toBe(303);
    expect((await home.records()).map(({ event }) => event)).not.toContain('log.recovered');
  });
});

describe('the resume hint', () => {
  it('makes a start read only what came after it', async () => {
    const home = await crashed(5_000);
    let read = 0;
    const { files } = home;
    const counting = {
      ...files,
      readBytes: async (path: string, range?: { offset: number; length: number }) => {
        const bytes = await files.readBytes(path, range);
        if (path.endsWith('.seg')) read += bytes?.length ?? 0;
        return bytes;
      },
    };
    await home.start({ files: counting });
    const first = (await listSegments(home.files, home.folder))[0]?.size ?? 0;
    // One chunk to check the salt key in the first record, and the tail.
    expect(read).toBeLessThan(first + 2_000);
  });

  it.each(['', '{}', 'not json'])('is not needed: %j in its place costs a full read and nothing else', async (text) => {
    const home = await crashed(300);
    fs.writeFileSync(home.path('resume.json'), text);
    const audit = await home.start();
    expect(audit.status().records).toBe(303);
    await audit.close();
    expect(await verifies(home)).toEqual([]);
  });

  it('is not used when a tile is missing that it counts on; the full read makes the tiles again', async () => {
    const home = await crashed(600);
    const tiles = fs.readFileSync(home.path('tiles', '0'));
    fs.truncateSync(home.path('tiles', '0'), tiles.length - 1);
    let warned = '';
    const audit = await home.start({ log: { ...silentLog, warn: (message) => (warned += message) } });
    expect(warned).toMatch(/no usable resume hint/);
    audit.append(granted);
    await audit.close();
    expect(fs.readFileSync(home.path('tiles', '0'))).toEqual(tiles);
    expect(await verifies(home)).toEqual([]);
  });

  it('is not believed when anything in it was changed', async () => {
    for (const change of [
      { position: { segment: 0, offset: 0 } },
      { openIntents: [['a', 'b']] },
      { edge: [] },
      { seal: 1 },
      { extra: true },
    ]) {
      const home = await crashed(300);
      const hint = JSON.parse(fs.readFileSync(home.path('resume.json'), 'utf8')) as object;
      fs.writeFileSync(home.path('resume.json'), JSON.stringify({ ...hint, ...change }));
      let warned = '';
      const audit = await home.start({ log: { ...silentLog, warn: (message) => (warned += message) } });
      expect(audit.status().records).toBe(303);
      expect([change, warned]).toEqual([change, expect.stringMatching(/whole log was read/)]);
      await audit.close();
      expect(await verifies(home)).toEqual([]);
    }
  });

  it('leads to the same tree as a full read, at every size around a tile', async () => {
    for (const count of [254, 255, 256, 257, 512]) {
      const home = await crashed(count);
      await (await home.start()).close();
      expect(await verifies(home)).toEqual([]);
      fs.rmSync(home.path('resume.json'));
      fs.rmSync(home.path('tiles'), { recursive: true, force: true });
      const audit = await home.start();
      expect(audit.status().records).toBe(count + 3);
      await audit.close();
      expect(await verifies(home)).toEqual([]);
    }
  });
});

describe('a locked log', () => {
  it('[AUD-6] a log cut below its signed checkpoint refuses to start and says how much is missing', async () => {
    const home = await crashed(300);
    const path = await lastSegment(home);
    const { ends } = splitFrames(fs.readFileSync(path));
    fs.truncateSync(path, ends.at(-10));
    await expect(home.start()).rejects.toEqual(
      locked(/whole records end after 294, but a checkpoint was signed for 300: 6 were cut/),
    );
    fs.rmSync(home.path('resume.json'));
    await expect(home.start()).rejects.toEqual(locked(/whole records end after 294/));
  });

  it('[AUD-6] an emptied folder refuses to start while the database remembers the log', async () => {
    const home = await createAuditHome();
    await (await home.start()).close();
    fs.rmSync(home.folder, { recursive: true });
    await expect(home.start()).rejects.toEqual(
      locked(/`checkpoint` is missing, but the checkpoint in the database holds one for 1/),
    );
  });

  it('[AUD-8] an older copy of the whole folder refuses to start against the database', async () => {
    const home = await createAuditHome();
    await (await home.start()).close();
    fs.cpSync(home.folder, `${home.folder}.old`, { recursive: true });
    const audit = await home.start();
    audit.append(granted);
    await audit.close();
    fs.rmSync(home.folder, { recursive: true });
    fs.renameSync(`${home.folder}.old`, home.folder);
    await expect(home.start()).rejects.toEqual(locked(/an older copy was put in its place/));
  });

  it('[AUD-8] an old checkpoint in the place of the newest refuses to start', async () => {
    const home = await crashed(300);
    const [old] = splitNotes(fs.readFileSync(home.path('checkpoints.txt'), 'utf8')).notes;
    fs.writeFileSync(home.path('checkpoint'), old as string);
    await expect(home.start()).rejects.toEqual(locked(/is for 1 records, but checkpoints.txt holds one for 300/));
  });

  it('[AUD-7] other records than the signed ones refuse to start, also when they are as many', async () => {
    const home = await crashed(300);
    const other = await crashed(300);
    fs.rmSync(home.path('resume.json'));
    fs.rmSync(home.path('segments'), { recursive: true });
    fs.cpSync(other.path('segments'), home.path('segments'), { recursive: true });
    await expect(home.start()).rejects.toEqual(locked(/first 300 records are not the ones that were signed/));
  });

  it('[AUD-7] a fork signed with the log’s own key refuses to start against the database', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    audit.append(granted);
    await audit.close();
    const other = await createAuditHome();
    const fork = await other.start();
    for (let index = 0; index < 9; index += 1) fork.append(granted);
    await fork.close();
    fs.rmSync(home.folder, { recursive: true });
    fs.cpSync(other.folder, home.folder, { recursive: true });
    await expect(home.start()).rejects.toEqual(locked(/first 2 records are not the ones the database remembers/));
  });

  it.each([
    ['another key', { signer: signerFromSeed(new Uint8Array(32).fill(1)) }, /belongs to sallyport\/test\+/],
    ['another origin', { origin: 'sallyport/other' }, /belongs to sallyport\/test\+/],
    ['another salt key', { saltKey: new Uint8Array(32) }, /salt key is not the one/],
  ])('%s refuses to start', async (_, change, message) => {
    const home = await createAuditHome();
    await (await home.start()).close();
    await expect(home.start(change)).rejects.toEqual(locked(message));
  });

  it('removed checkpoints refuse to start', async () => {
    const home = await crashed(10);
    for (const name of ['checkpoint', 'checkpoints.txt', 'resume.json']) fs.rmSync(home.path(name));
    await expect(home.start()).rejects.toEqual(locked(/./));
  });

  it('a list of checkpoints that lost its end is mended from the newest, and what was damaged is kept', async () => {
    const home = await crashed(300);
    const list = fs.readFileSync(home.path('checkpoints.txt'), 'utf8');
    fs.writeFileSync(home.path('checkpoints.txt'), list.slice(0, -20));
    await (await home.start({ log: silentLog })).close();
    expect(splitNotes(fs.readFileSync(home.path('checkpoints.txt'), 'utf8')).notes.slice(0, 2)).toEqual(splitNotes(list).notes);
    expect(fs.readdirSync(home.path('torn'))).toEqual(['checkpoints-300.txt']);
    expect(await verifies(home)).toEqual([]);
  });
});
