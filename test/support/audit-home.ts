// An audit log in a scratch folder with a clock that tests move: real files, real keys, real SQLite. `crash` drops the running log
// without a word to it, as a kill would.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { auditMigrations } from '../../src/features/audit/store.ts';
import { createAudit, type AuditDeps, type AuditLog } from '../../src/features/audit/audit.ts';
import type { AuditRecord } from '../../src/features/audit/model.ts';
import { parseRecord } from '../../src/features/audit/record.ts';
import { scanLog } from '../../src/features/audit/scan.ts';
import type { Database, Migration } from '../../src/kernel/database.ts';
import type { Log } from '../../src/kernel/ports.ts';
import { createDigest, createEntropy, createVerifier, signerFromSeed } from '../../src/platform/crypto.ts';
import { openDatabase } from '../../src/platform/database.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createFaultyFiles, type FaultyFiles } from './faulty-files.ts';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface AuditHome {
  readonly folder: string;
  readonly files: FaultyFiles;
  readonly clock: FakeClock;
  readonly db: Database;
  /** The log of the last `start`. */
  readonly audit: AuditLog;
  start(change?: Partial<AuditDeps>): Promise<AuditLog>;
  /** Leaves the log as a kill would: nothing is flushed, no timer of it fires again. */
  crash(): void;
  records(): Promise<AuditRecord[]>;
  path(...parts: string[]): string;
}

/** `more`: migrations of other slices that keep their rows in the same database. */
export async function createAuditHome(given?: Database, more: readonly Migration[] = []): Promise<AuditHome> {
  const scratch = fs.mkdtempSync(join(tmpdir(), 'sallyport-audit-'));
  const folder = join(scratch, 'audit');
  const db = given ?? (await openDatabase('sqlite::memory:'));
  await db.migrate([...auditMigrations, ...more]);
  let clock = createFakeClock();
  let files = createFaultyFiles();
  let audit: AuditLog | undefined;
  const closers: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const close of closers) await close();
    if (given === undefined) await db.close();
    fs.rmSync(scratch, { recursive: true, force: true });
  });
  return {
    folder,
    get files() {
      return files;
    },
    get clock() {
      return clock;
    },
    db,
    get audit() {
      if (audit === undefined) throw new Error('not started');
      return audit;
    },
    async start(change = {}) {
      const opened = await createAudit({
        db,
        files,
        folder,
        clock,
        entropy: createEntropy(),
        digest: createDigest(),
        signer: signerFromSeed(new Uint8Array(32).fill(7)),
        verifier: createVerifier(),
        saltKey: new Uint8Array(32).fill(9),
        origin: 'sallyport/test',
        log: silentLog,
        segmentBytes: 64 << 10,
        ...change,
      });
      audit = opened;
      let closed = false;
      const close = async (): Promise<void> => {
        if (closed) return;
        closed = true;
        await opened.close();
      };
      audit = { ...opened, close };
      closers.push(close);
      return audit;
    },
    crash() {
      closers.pop();
      clock.stop();
      clock = createFakeClock(clock.now() + 1_000);
      files = createFaultyFiles();
      audit = undefined;
    },
    async records() {
      const records: AuditRecord[] = [];
      for await (const step of scanLog(files, folder)) {
        if (step.kind !== 'records') throw new Error(`${step.kind} at ${step.index}`);
        for (const bytes of step.records) records.push(parseRecord(bytes) as AuditRecord);
      }
      return records;
    },
    path: (...parts) => join(folder, ...parts),
  };
}
