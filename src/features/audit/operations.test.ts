import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createAuditHome, type AuditHome } from '../../../test/support/audit-home.ts';
import type { Operation, OperationContext } from '../../kernel/operation.ts';
import type { AuditEntry } from './model.ts';
import { auditOperations } from './operations.ts';
import { parseProof } from './proof-file.ts';

const verifierPath = fileURLToPath(new URL('../../../scripts/verify-audit.mjs', import.meta.url));
const context: OperationContext = {
  caller: { kind: 'local' },
  signal: new AbortController().signal,
  canProgress: false,
  progress() {},
};

type Answer = Record<string, unknown> & { records: Record<string, unknown>[]; problems: unknown[]; proof: string; salt: string };

async function run(home: AuditHome, name: string, input: object = {}): Promise<Answer> {
  const operations = auditOperations({ audit: home.audit, files: home.files, verifierPath });
  const operation = operations.find((one) => one.name === name) as Operation;
  const output = await operation.run(operation.input.parse(input), context);
  return operation.output.parse(output) as Answer;
}

/** `count` records besides the first; odd ones by agent:b, every third a door.refused. */
async function filled(count: number): Promise<AuditHome> {
  const home = await createAuditHome();
  const audit = await home.start({ segmentBytes: 8_000 });
  for (let n = 1; n <= count; n += 1) {
    home.clock.advance(10);
    const entry: AuditEntry = {
      event: n % 3 === 0 ? 'door.refused' : 'grant.issued',
      actor: n % 2 === 1 ? 'agent:b' : 'agent:a',
      facts: { n },
      sealed: { reason: `because ${n}` },
    };
    audit.append(entry);
  }
  return home;
}

/** Runs the offline verifier as a stranger would: nothing but Node. */
function script(args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

describe('audit.query', () => {
  it('shows the newest records that match, page by page, over segment borders', async () => {
    const home = await filled(200);
    const seen: unknown[] = [];
    let before: number | undefined;
    for (;;) {
      const page = await run(home, 'audit.query', {
        actor: 'agent:a',
        event: 'door.refused',
        limit: 7,
        ...(before !== undefined && { before }),
      });
      seen.push(...page.records.map(({ facts }) => (facts as { n: number }).n));
      if (page['next_before'] === undefined) break;
      before = page['next_before'] as number;
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, at) => 200 - at).filter((n) => n % 6 === 0));
  });

  it('bounds by instants, both inclusive, and takes a date as its whole day', async () => {
    const home = await filled(50);
    const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 10).toISOString();
    const { records } = await run(home, 'audit.query', { since: at(20), until: at(22) });
    expect(records.map(({ index, at: when }) => [index, when])).toEqual([22, 21, 20].map((n) => [n, at(n)]));
    expect((await run(home, 'audit.query', { since: '2026-01-01', until: '2026-01-01', limit: 200 })).records).toHaveLength(51);
    expect((await run(home, 'audit.query', { until: '2025-12-31' })).records).toEqual([]);
  });

  it('refuses events that do not exist, instants that are none, and more than 200 records', async () => {
    const home = await filled(1);
    for (const input of [{ event: 'x' }, { since: 'yesterday' }, { limit: 201 }, { colour: 1 }]) {
      await expect(run(home, 'audit.query', input)).rejects.toMatchObject({ name: 'ZodError' });
    }
  });

  it('[AUD-12] answers while the disk is full, as every look does', async () => {
    const home = await filled(5);
    home.files.full = true;
    expect(() => home.audit.append({ event: 'daemon.stopped', actor: 'daemon' })).toThrow(
      expect.objectContaining({ code: 'audit.unavailable' }),
    );
    expect((await run(home, 'audit.query')).records).toHaveLength(6);
    expect(await run(home, 'audit.verify')).toMatchObject({ ok: true, available: false, reason: 'the disk is full' });
    expect(await run(home, 'audit.prove', { record: '0' })).toMatchObject({ index: 0, size: 1 });
    await expect(run(home, 'audit.prove', { record: '5' })).rejects.toMatchObject({ code: 'audit.unavailable' });
  });
});

describe('audit.verify', () => {
  it('holds a sound log, also against an older checkpoint as file and as text', async () => {
    const home = await filled(10);
    const { note } = await home.audit.evidence.settle();
    home.audit.append({ event: 'daemon.stopped', actor: 'daemon' });
    fs.writeFileSync(home.path('..', 'kept'), note);
    const answer = await run(home, 'audit.verify', { against: home.path('..', 'kept'), against_note: note });
    expect(answer).toMatchObject({ ok: true, records: 12, signed: 12, checkpoints: 3, available: true, problems: [] });
    await expect(run(home, 'audit.verify', { against: home.path('missing') })).rejects.toMatchObject({ code: 'audit.not_found' });
    const forged = note.replace(/^\d+$/m, '9');
    expect((await run(home, 'audit.verify', { against_note: forged })).problems).toHaveLength(1);
  });

  it('[AUD-3] [AUD-6] finds what was done to the files under a running daemon', async () => {
    const home = await filled(300);
    await home.audit.evidence.settle();
    const path = home.path('segments', fs.readdirSync(home.path('segments'))[1] as string);
    const bytes = fs.readFileSync(path);
    bytes[100] = (bytes[100] as number) ^ 1;
    fs.writeFileSync(path, bytes);
    const answer = await run(home, 'audit.verify');
    expect(answer['ok']).toBe(false);
    expect(answer.problems).toMatchObject([{ index: Number(path.slice(-20, -4)), kind: 'changed' }]);
  });
});

it('a record put into the last segment of a running log is found, and nothing else is reported', async () => {
  const home = await filled(300);
  await home.audit.evidence.settle();
  const path = home.path('segments', fs.readdirSync(home.path('segments')).at(-1) as string);
  const bytes = fs.readFileSync(path);
  const length = 2 + bytes.readUInt16BE(0);
  fs.writeFileSync(path, Buffer.concat([bytes.subarray(0, length), bytes.subarray(0, length), bytes.subarray(length)]));
  expect((await run(home, 'audit.verify')).problems).toMatchObject([{ index: Number(path.slice(-20, -4)) + 1, kind: 'inserted' }]);
});

describe('audit.prove', () => {
  it('finds a record by index and by id wherever it stands, and says when there is none', async () => {
    const home = await filled(300);
    for (const index of [0, 1, 150, 299, 300]) {
      const byIndex = await run(home, 'audit.prove', { record: String(index) });
      expect(await run(home, 'audit.prove', { record: byIndex['id'] as string })).toEqual(byIndex);
      expect(byIndex).toMatchObject({ index, size: 301 });
    }
    for (const record of ['301', '999999999999999', 'nonsense', '0190a1b2-0000-7000-8000-000000000000']) {
      await expect(run(home, 'audit.prove', { record })).rejects.toMatchObject({ code: 'audit.not_found' });
    }
  });

  it('does not hand out a proof of a record that was changed', async () => {
    const home = await filled(20);
    await home.audit.evidence.settle();
    const path = home.path('segments', '0000000000000000.seg');
    fs.writeFileSync(path, fs.readFileSync(path, 'latin1').replace('"n":7}', '"n":8}'), 'latin1');
    await expect(run(home, 'audit.prove', { record: '7' })).rejects.toMatchObject({ code: 'audit.locked' });
  });

  it('[AUD-9] [AUD-13] one record is proved offline, its sealed text opens with its salt, and nothing else does', async () => {
    const home = await filled(300);
    const { proof, key, salt } = await run(home, 'audit.prove', { record: '42' });
    expect(parseProof(proof)?.extra.salt).toBe(salt);
    const file = home.path('..', 'one.tlog-proof');
    fs.writeFileSync(file, proof);
    const vkey = ['--key', key as string];
    expect(script([verifierPath, file, ...vkey])).toMatchObject({
      status: 0,
      text: expect.stringContaining('record 42 of the 301 signed'),
    });
    expect(script([verifierPath, file, ...vkey, '--text', 'reason=because 42']).status).toBe(0);
    expect(script([verifierPath, file, ...vkey, '--text', 'reason=because 43']).status).toBe(1);
    expect(script([verifierPath, file])).toMatchObject({ status: 2, text: expect.stringContaining('usage') });

    const bare = await run(home, 'audit.prove', { record: '42', no_salt: true });
    fs.writeFileSync(file, bare.proof);
    expect(bare.salt).toBeUndefined();
    expect(script([verifierPath, file, ...vkey, '--text', 'reason=because 42'])).toMatchObject({
      status: 1,
      text: expect.stringContaining('no salt'),
    });

    const other = await run(home, 'audit.prove', { record: '43' });
    const swapped = proof.replace(/^extra .*$/m, /^extra .*$/m.exec(other.proof)?.[0] ?? '');
    for (const forged of [swapped, proof.replace('index 42', 'index 43'), proof.replace(/\n301\n/, '\n300\n'), 'nonsense']) {
      fs.writeFileSync(file, forged);
      expect(script([verifierPath, file, ...vkey]).status).toBe(1);
    }
  });
});

describe('audit.export', () => {
  const verifyBundle = (folder: string, ...args: string[]): { status: number | null; text: string } =>
    script([join(folder, 'verify-audit.mjs'), folder, ...args]);

  async function exported(count: number): Promise<{ home: AuditHome; folder: string }> {
    const home = await filled(count);
    const folder = home.path('..', 'bundle');
    const answer = await run(home, 'audit.export', { path: folder });
    expect(answer).toMatchObject({ records: count + 1, path: folder });
    return { home, folder };
  }

  it.each([0, 254, 255, 256, 700])('[AUD-9] a bundle of 1 + %i records verifies with the script inside it', async (count) => {
    const { home, folder } = await exported(count);
    const key = fs.readFileSync(home.path('log.vkey'), 'utf8').trim();
    expect(verifyBundle(folder)).toMatchObject({ status: 0, text: expect.stringContaining(`Holds: ${count + 1} records`) });
    expect(verifyBundle(folder, '--key', key)).toMatchObject({ status: 0, text: expect.stringContaining('the key you gave') });
    expect(verifyBundle(folder, '--against', join(folder, 'checkpoint')).status).toBe(0);
  });

  it('[AUD-9] a tar archive unpacks to the same bundle', async () => {
    const home = await filled(300);
    const path = home.path('..', 'log.tar');
    await run(home, 'audit.export', { path });
    execFileSync('tar', ['-xf', path, '-C', home.path('..')]);
    expect(verifyBundle(home.path('..', 'log')).status).toBe(0);
  });

  it('writes over nothing and nowhere relative, and says so', async () => {
    const { home, folder } = await exported(1);
    await expect(run(home, 'audit.export', { path: folder })).rejects.toMatchObject({ code: 'audit.bad_path' });
    await expect(run(home, 'audit.export', { path: 'bundle' })).rejects.toMatchObject({ code: 'audit.bad_path' });
  });

  it('[AUD-3] [AUD-4] [AUD-6] [AUD-7] [AUD-8] the script finds every kind of tampering with its record', async () => {
    const { home, folder } = await exported(700);
    const kept = fs.readFileSync(join(folder, 'checkpoint'), 'utf8');
    const list = fs.readFileSync(join(folder, 'checkpoints.txt'), 'utf8');
    const attempt = (change: (at: (...names: string[]) => string) => void, ...args: string[]): string => {
      const copy = home.path('..', 'copy');
      fs.rmSync(copy, { recursive: true, force: true });
      fs.cpSync(folder, copy, { recursive: true });
      change((...names) => join(copy, ...names));
      const { status, text } = verifyBundle(copy, ...args);
      return `${status} ${text.split('\n')[0]?.trim()}`;
    };
    const edit = (path: string, change: (text: string) => string): void =>
      fs.writeFileSync(path, change(fs.readFileSync(path, 'latin1')), 'latin1');
    const entries = (at: (...names: string[]) => string): string => at('tile', 'entries', '001');

    expect(attempt(() => undefined)).toMatch(/^0 Holds/);
    expect(attempt((at) => edit(entries(at), (text) => text.replace('"n":300}', '"n":301}')))).toMatch(
      /^1 300 {2}record 300 is not the one/,
    );
    expect(attempt((at) => edit(entries(at), (text) => text.slice(2 + text.charCodeAt(0) * 256 + text.charCodeAt(1))))).toMatch(
      /^1 256 {2}/,
    );
    expect(attempt((at) => fs.rmSync(entries(at)))).toMatch(/^1 256 {2}record 256 is missing/);
    expect(attempt((at) => edit(at('tile', '0', '000'), (text) => `${text.slice(0, 64)}x${text.slice(65)}`))).toMatch(/^1 2 {2}/);
    expect(attempt((at) => edit(at('tile', '1', '000.p', '2'), (text) => `x${text.slice(1)}`))).toMatch(
      /^1 0 {2}the stored hash of records 0 to 255/,
    );
    expect(attempt((at) => edit(at('checkpoint'), (text) => text.replace('\n701\n', '\n700\n')))).toMatch(
      /^1 Does NOT hold: checkpoint is not signed/,
    );
    expect(attempt((at) => edit(at('checkpoints.txt'), (text) => text.replace('\n1\n', '\n2\n')))).toMatch(
      /^1 0 {2}entry 1 of checkpoints.txt is not signed/,
    );
    const first = `${list.slice(0, list.indexOf('\n\nsallyport/'))}\n`;
    expect(attempt((at) => fs.writeFileSync(at('checkpoint'), first))).toMatch(/^1 1 {2}checkpoint is for 1 records, one for 701/);
    expect(attempt((at) => fs.writeFileSync(at('checkpoints.txt'), `${list}${first}\n`))).toMatch(/^1 1 {2}.*replayed/);

    const other = await filled(700);
    const otherFolder = other.path('..', 'bundle');
    await run(other, 'audit.export', { path: otherFolder });
    const fork = attempt(
      (at) => {
        for (const part of ['checkpoint', 'checkpoints.txt', 'tile']) {
          fs.rmSync(at(part), { recursive: true });
          fs.cpSync(join(otherFolder, part), at(part), { recursive: true });
        }
      },
      '--against',
      kept,
    );
    expect(fork).toMatch(/^1 [01] {2}records [01] to 700 are not the ones under the checkpoint you hold/);
  });
});
