import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createAuditHome, type AuditHome } from '../../../test/support/audit-home.ts';
import { createDigest, createVerifier, signerFromSeed } from '../../platform/crypto.ts';
import type { AuditEntry } from './model.ts';
import { listSegments, splitFrames } from './scan.ts';
import { splitNotes } from './checkpoint.ts';
import { verifyFolder, type Verification, type VerifyOptions } from './verify.ts';

const verify = (home: AuditHome, options: Partial<VerifyOptions> = {}): Promise<Verification> =>
  verifyFolder(home.files, home.folder, { digest: createDigest(), verifier: createVerifier(), ...options });
const brief = ({ problems }: Verification): string[] => problems.map(({ index, kind }) => `${kind} ${index}`);
const entry = (n: number): AuditEntry => ({ event: 'grant.issued', actor: 'agent:a', facts: { n, text: 'x'.repeat(n % 50) } });

/** 700 records in several segments, checkpoints at 1, 101, 201 … 601 and 700; closed. Record n > 0 has `facts.n` = n. */
async function signedLog(change: { readonly from?: number } = {}): Promise<AuditHome> {
  const home = await createAuditHome();
  const audit = await home.start({ segmentBytes: 20_000 });
  for (let n = 1; n < 700; n += 1) {
    audit.append(n >= (change.from ?? 700) ? { ...entry(n), actor: 'agent:b' } : entry(n));
    if (n % 100 === 0) await audit.evidence.settle();
  }
  await audit.close();
  return home;
}

/** Rewrites the records of the whole log as one list and puts them back into their segments. */
async function rewrite(home: AuditHome, change: (records: Uint8Array[]) => Uint8Array[]): Promise<void> {
  const segments = await listSegments(home.files, home.folder);
  for (const { path, first } of segments) {
    const { records } = splitFrames(fs.readFileSync(path));
    const frames = change(records.map((record, at) => Object.assign(record.slice(), { index: first + at }))).map((record) =>
      Buffer.concat([Buffer.from([record.length >> 8, record.length & 255]), record]),
    );
    if (frames.length > 0) fs.writeFileSync(path, Buffer.concat(frames));
    else fs.unlinkSync(path);
  }
}
const indexOf = (record: Uint8Array): number => (record as Uint8Array & { index: number }).index;
function altered(record: Uint8Array): Uint8Array {
  const text = Buffer.from(record).toString().replace('"agent:a"', '"agent:c"');
  return Uint8Array.from(Buffer.from(text));
}

describe('a whole log', () => {
  it('verifies, with its root, and under every checkpoint that was signed', async () => {
    const home = await signedLog();
    expect(await verify(home)).toMatchObject({ ok: true, records: 700, checkpoints: 8, signed: 700, problems: [] });
  });

  it('verifies after a crash, between checkpoints, and with records no checkpoint covers yet', async () => {
    const home = await createAuditHome();
    const audit = await home.start();
    for (let n = 0; n < 600; n += 1) audit.append(entry(n));
    expect(await verify(home)).toMatchObject({ ok: true, records: 601, signed: 1 });
  });

  it('says when a folder holds no log', async () => {
    const home = await createAuditHome();
    await expect(verify(home)).rejects.toMatchObject({ code: 'audit.not_found' });
  });
});

describe('tampering', () => {
  it.each([0, 1, 150, 255, 256, 300, 511, 650, 699])(
    '[AUD-3] a flipped byte in record %i is detected and located',
    async (index) => {
      const home = await signedLog();
      await rewrite(home, (records) =>
        records.map((record) => (indexOf(record) === index ? record.with(40, (record[40] as number) ^ 1) : record)),
      );
      expect(brief(await verify(home))).toEqual([`changed ${index}`]);
    },
  );

  it('[AUD-3] a record that was rewritten in its own form is detected and located', async () => {
    const home = await signedLog();
    await rewrite(home, (records) => records.map((record) => (indexOf(record) === 333 ? altered(record) : record)));
    expect(brief(await verify(home))).toEqual(['changed 333']);
  });

  it('[AUD-3] a flipped length that breaks the framing is located at its record', async () => {
    const home = await signedLog();
    const { path, first } = (await listSegments(home.files, home.folder))[1] as { path: string; first: number };
    const bytes = fs.readFileSync(path);
    const offset = splitFrames(bytes).ends[9] as number;
    bytes[offset] = 0xff;
    fs.writeFileSync(path, bytes);
    const { problems } = await verify(home);
    expect(problems[0]).toMatchObject({ index: first + 10, kind: 'damaged' });
    expect(problems).toHaveLength(1);
  });

  it('[AUD-4] deleted records are detected and located, also with other damage behind them', async () => {
    const home = await signedLog();
    await rewrite(home, (records) => records.filter((record) => indexOf(record) !== 120));
    expect(brief(await verify(home))).toEqual(['deleted 120']);
    await rewrite(home, (records) =>
      records.map((record) => (Buffer.from(record).includes('"n":400,') ? altered(record) : record)),
    );
    expect(brief(await verify(home))).toEqual(['deleted 120', 'changed 400']);
  });

  it('[AUD-4] a removed segment file is detected with the records it held', async () => {
    const home = await signedLog();
    const [, second, third] = await listSegments(home.files, home.folder);
    fs.unlinkSync(second?.path ?? '');
    const { problems } = await verify(home);
    expect(problems).toEqual([
      {
        index: second?.first,
        kind: 'deleted',
        message: `records ${second?.first} to ${(third?.first ?? 0) - 1} deleted`,
      },
    ]);
  });

  it.each([
    [10, 11],
    [140, 145],
    [200, 201],
  ])('[AUD-5] swapped records %i and %i are detected and located', async (a, b) => {
    const home = await signedLog();
    const all = new Map<number, Uint8Array>();
    await rewrite(home, (records) => {
      for (const record of records) all.set(indexOf(record), record);
      return records;
    });
    await rewrite(home, (records) =>
      records.map((record) => all.get(indexOf(record) === a ? b : indexOf(record) === b ? a : indexOf(record)) as Uint8Array),
    );
    expect(brief(await verify(home))).toEqual([`swapped ${a}`]);
  });

  it('a foreign record between others is detected and located', async () => {
    const home = await signedLog();
    await rewrite(home, (records) => records.flatMap((record) => (indexOf(record) === 42 ? [altered(record), record] : [record])));
    expect(brief(await verify(home))).toEqual(['inserted 42']);
  });

  it('[AUD-6] a truncated log is detected, by whole records and in the middle of one', async () => {
    const home = await signedLog();
    await rewrite(home, (records) => records.filter((record) => indexOf(record) < 690));
    expect(brief(await verify(home))).toEqual(['truncated 690']);
    const last = (await listSegments(home.files, home.folder)).at(-1) as { path: string; size: number };
    fs.truncateSync(last.path, last.size - 5);
    expect(brief(await verify(home))).toEqual(['damaged 689', 'truncated 689']);
  });

  it('[AUD-7] a log rewritten with all its tiles is detected as forked from the last checkpoint that still holds', async () => {
    const home = await signedLog();
    const other = await signedLog({ from: 350 });
    for (const part of ['segments', 'tiles', 'resume.json']) {
      fs.rmSync(home.path(part), { recursive: true });
      fs.cpSync(other.path(part), home.path(part), { recursive: true });
    }
    // The other log has other ids from its first record on, so nothing of it is what was signed here.
    expect(brief(await verify(home))).toEqual(['forked 0']);
  });

  it('[AUD-7] a log forged with the log’s own key is detected against an older checkpoint kept elsewhere', async () => {
    const home = await signedLog();
    const kept = fs.readFileSync(home.path('checkpoint'), 'utf8');
    const forged = await signedLog();
    expect((await verify(forged)).ok).toBe(true);
    expect(brief(await verify(forged, { held: [{ where: 'the one you hold', note: kept }] }))).toEqual(['forked 0']);
    expect((await verify(home, { held: [{ where: 'the one you hold', note: kept }] })).ok).toBe(true);
  });

  it('[AUD-8] an old checkpoint put back is detected, in the file, in the list, and as an older copy of everything', async () => {
    const home = await signedLog();
    const list = fs.readFileSync(home.path('checkpoints.txt'), 'utf8');
    const old = splitNotes(list).notes[3] as string;
    const newest = fs.readFileSync(home.path('checkpoint'), 'utf8');
    fs.writeFileSync(home.path('checkpoint'), old);
    expect(brief(await verify(home))).toEqual(['replayed 301']);
    fs.writeFileSync(home.path('checkpoint'), newest);
    fs.writeFileSync(home.path('checkpoints.txt'), `${list}${old}\n`);
    expect(brief(await verify(home))).toEqual(['replayed 301']);

    fs.writeFileSync(home.path('checkpoints.txt'), `${splitNotes(list).notes.slice(0, 4).join('\n')}\n`);
    fs.writeFileSync(home.path('checkpoint'), old);
    fs.rmSync(home.path('resume.json'));
    fs.rmSync(home.path('tiles'), { recursive: true });
    await rewrite(home, (records) => records.filter((record) => indexOf(record) < 301));
    expect(brief(await verify(home))).toEqual([]);
    expect(brief(await verify(home, { held: [{ where: 'the one you hold', note: newest }] }))).toEqual(['truncated 301']);
  });

  it('[AUD-2] a checkpoint that another key signed, or that was edited, is detected', async () => {
    const home = await signedLog();
    const list = fs.readFileSync(home.path('checkpoints.txt'), 'utf8');
    fs.writeFileSync(home.path('checkpoints.txt'), list.replace('sallyport/test\n201\n', 'sallyport/test\n202\n'));
    expect(brief(await verify(home))).toEqual(['checkpoint 101']);
    const stranger = await createAuditHome();
    await (await stranger.start({ signer: signerFromSeed(new Uint8Array(32).fill(1)) })).close();
    const trusted = fs.readFileSync(home.path('log.vkey'), 'utf8');
    expect(brief(await verify(stranger, { key: trusted }))).toEqual(['checkpoint 0', 'checkpoint 0']);
  });

  it('a changed tile is told apart from a changed record', async () => {
    const home = await signedLog();
    const tiles = fs.readFileSync(home.path('tiles', '0'));
    tiles[32 * 260] = (tiles[32 * 260] as number) ^ 1;
    fs.writeFileSync(home.path('tiles', '0'), tiles);
    expect(brief(await verify(home))).toEqual(['tile 260']);
  });

  it('time that goes back inside a log is reported at its record', async () => {
    const home = await signedLog();
    await rewrite(home, (records) =>
      records.map((record) =>
        indexOf(record) === 5
          ? Uint8Array.from(
              Buffer.from(
                Buffer.from(record)
                  .toString()
                  .replace(/"t":\d/, '"t":0'),
              ),
            )
          : record,
      ),
    );
    expect(brief(await verify(home))).toEqual(['changed 5']);
  });
});
