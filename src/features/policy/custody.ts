// Keeps the text in force: what boot finds, what an edit of the file may do unsigned, what a signature adopts. Every change is one
// commit of row and record (DESIGN invariants 4 and 9). Decides nothing about capabilities.
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, Digest, Files, Log, Unsubscribe } from '../../kernel/ports.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import { AppError } from '../../kernel/errors.ts';
import { createTurns } from '../../lib/turns.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import { createEngine } from './decide.ts';
import { parsePolicy } from './file.ts';
import { edited, hashOf, readPolicyFile, type DiskText } from './policy-file.ts';
import type { Adopted, Disk, Ground, Standing } from './standing.ts';
import { readInForce, writeInForce, type Adoption, type InForceRow } from './store.ts';
import { provablyNarrower } from './widening.ts';

export interface CustodyDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly files: Files;
  /** Of policies.yaml, absolute. */
  readonly path: string;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
  /** Whether somebody can sign for a text. */
  readonly hasOperator: () => boolean;
}

export interface Custody {
  standing(): Standing;
  read(): Promise<DiskText>;
  /** Puts a valid text in force with its record; `decision` marks what a person decided. Throws what the commit throws. */
  adopt(text: string, how: Adoption, entry: Pick<AuditEntry, 'actor' | 'facts'>): Promise<Adopted>;
  /**
   * Puts a valid text in force in place of the one of version `from`, and into the file; `also` goes into the same commit. Throws
   * `policy.edited` when the file is neither, `policy.changed` when another text came into force; then nothing was done.
   */
  supersede(from: string, text: string, entry: Pick<AuditEntry, 'actor' | 'facts'>, also: AlsoCommitted): Promise<Adopted>;
  onChanged(listener: () => void): Unsubscribe;
  close(): void;
}

/** Changes further rows; its records go behind the policy's own. */
export type AlsoCommitted = (tx: Transaction) => Promise<readonly AuditEntry[]>;

/** An unsigned edit must have stopped moving: half a file can be a valid, narrower policy. */
const settleMs = 250;
/** When an edit could not be recorded it is tried again, so that a deny somebody wrote is not lost. */
const retryMs = 5_000;

export async function createCustody(deps: CustodyDeps): Promise<Custody> {
  const { audit, files, path, clock, digest, log, hasOperator } = deps;
  const turns = createTurns();
  const listeners = new Set<() => void>();
  let ground = await groundOf(deps);
  let disk: Disk = { state: 'in_force' };
  let closed = false;
  /** Denying everything does not wait for the record, but the record follows. */
  let unrecorded: JsonObject | undefined;
  let cancelRetry: Unsubscribe = () => {};

  if (ground.kind === 'locked') log.error('the policy in force is locked, everything is denied', { reason: ground.reason });

  function settle(next: { readonly ground?: Ground; readonly disk: Disk }): void {
    ground = next.ground ?? ground;
    disk = next.disk;
    for (const listener of listeners) listener();
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = await turns();
    try {
      return await work();
    } finally {
      done();
    }
  }

  async function take(
    text: string,
    how: Adoption,
    entry: Pick<AuditEntry, 'actor' | 'facts'>,
    also?: AlsoCommitted,
  ): Promise<Adopted> {
    const parsed = parsePolicy(text);
    if (!parsed.ok) throw new RangeError('only a valid policy can be put in force');
    const { file } = parsed;
    const row = { text, version: hashOf(digest, text), how, adoptedAt: new Date(clock.now()).toISOString() };
    const from = ground.kind === 'adopted' ? { from: ground.adopted.version } : {};
    const event = how === 'narrowed' ? 'policy.narrowed' : 'policy.adopted';
    await audit.commit(
      async (tx) => {
        await writeInForce(tx, row);
        const own: AuditEntry = { event, actor: entry.actor, facts: { ...from, to: row.version, how, ...entry.facts } };
        return { value: undefined, entries: [own, ...((await also?.(tx)) ?? [])] };
      },
      { decision: true },
    );
    const adopted = { ...row, file, engine: createEngine(file) };
    settle({ ground: { kind: 'adopted', adopted }, disk: { state: 'in_force' } });
    log.info('a policy came into force', { version: row.version, how });
    return adopted;
  }

  async function lookNow(): Promise<void> {
    if (closed || ground.kind !== 'adopted') return;
    const { adopted } = ground;
    const found = await readPolicyFile(files, path);
    if (found.kind !== 'text') return gone(found, adopted);
    if (disk.state === 'missing' || disk.state === 'unreadable') {
      await note('policy.adopted', { to: adopted.version, how: 'file_restored' });
      settle({ disk: { state: 'in_force' } });
      log.info('the policy file is back, the last good policy is in force again', { version: adopted.version });
    }
    const version = hashOf(digest, found.text);
    if (version === adopted.version) {
      if (disk.state !== 'in_force') settle({ disk: { state: 'in_force' } });
      return;
    }
    if ('version' in disk && disk.version === version) return;
    const parsed = parsePolicy(found.text);
    if (!parsed.ok) return refuse({ state: 'invalid', version, findings: parsed.findings });
    const comparison = provablyNarrower(adopted.file, parsed.file);
    if (!comparison.narrower) return refuse({ state: 'waiting', version, changes: comparison.changes });
    await new Promise<void>((resolve) => void clock.after(settleMs, resolve));
    const again = await readPolicyFile(files, path);
    if (again.kind !== 'text' || again.text !== found.text) return lookNow();
    await take(found.text, 'narrowed', { actor: 'daemon' });
  }

  /** Taking the file away takes every permission away; the last good text stays, so that restoring the file restores it. */
  async function gone(found: Exclude<DiskText, { kind: 'text' }>, adopted: Adopted): Promise<void> {
    const next: Disk = found.kind === 'missing' ? { state: 'missing' } : { state: 'unreadable', reason: found.reason };
    if (disk.state !== next.state) {
      log.error(`the policy file is ${next.state}, everything is denied`, {
        path,
        ...('reason' in next ? { reason: next.reason } : {}),
      });
      unrecorded = { from: adopted.version, how: `file_${next.state}` };
      settle({ disk: next });
    } else disk = next;
    if (unrecorded === undefined) return;
    await note('policy.narrowed', unrecorded);
    unrecorded = undefined;
  }

  function refuse(next: Extract<Disk, { version: string }>): void {
    settle({ disk: next });
    const many = next.state === 'invalid' ? next.findings.length : next.changes.length;
    audit.appendQuietly({
      event: 'policy.refused',
      actor: 'daemon',
      facts: { version: next.version, reason: next.state, changes: many },
    });
    const details = next.state === 'invalid' ? next.findings.map(({ line, message }) => `line ${line}: ${message}`) : next.changes;
    log.warn(
      next.state === 'invalid'
        ? 'the policy file has errors, the last good policy stays in force; run: sallyport policies check'
        : 'the policy file permits more than the policy in force, which stays; run: sallyport policies adopt',
      { version: next.version, details: details.slice(0, 10) },
    );
  }

  const note = (event: 'policy.narrowed' | 'policy.adopted', facts: JsonObject): Promise<void> =>
    audit.commit(() => Promise.resolve({ value: undefined, entries: [{ event, actor: 'daemon', facts }] }), { keepsRights: true });

  async function look(): Promise<void> {
    cancelRetry();
    try {
      await inTurn(lookNow);
    } catch (thrown) {
      log.error('a change of the policy file could not be put in force, it will be tried again', { reason: String(thrown) });
      if (!closed) cancelRetry = clock.after(retryMs, () => void look());
    }
  }

  const unwatch = files.watch(path, () => void look());
  await look();

  return {
    standing: () => ({ ground, disk, hasOperator: hasOperator() }),
    read: () => readPolicyFile(files, path),
    async adopt(text, how, entry) {
      const adopted = await inTurn(() => take(text, how, entry));
      // The file may have changed while the decision was made.
      void look();
      return adopted;
    },
    supersede: (from, text, entry, also) =>
      inTurn(async () => {
        if (ground.kind !== 'adopted' || ground.adopted.version !== from) throw changed();
        const { adopted } = ground;
        const found = await readPolicyFile(files, path);
        if (found.kind !== 'text' || (found.text !== adopted.text && found.text !== text)) throw edited();
        // The file first: whoever dies in between leaves an edit that waits for a signature, and nothing that was signed is lost.
        await files.writeAtomic(path, text);
        try {
          return await take(text, 'signed', entry, also);
        } catch (thrown) {
          await files.writeAtomic(path, adopted.text).catch((failure: unknown) => {
            log.error('a rule that was not adopted stays in the policy file', { cause: String(failure) });
          });
          throw thrown;
        }
      }),
    onChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      cancelRetry();
      unwatch();
      listeners.clear();
    },
  };
}

/** Whatever is wrong with what was adopted locks everything; nothing is repaired by guessing. */
async function groundOf({ db, digest }: CustodyDeps): Promise<Ground> {
  let row: InForceRow | undefined;
  try {
    row = await readInForce(db);
  } catch (thrown) {
    return { kind: 'locked', reason: `it cannot be read from the database (${String(thrown)}).` };
  }
  if (row === undefined) return { kind: 'none' };
  if (hashOf(digest, row.text) !== row.version) return { kind: 'locked', reason: 'its text does not match its hash.' };
  const parsed = parsePolicy(row.text);
  if (!parsed.ok) return { kind: 'locked', reason: 'this version of the program cannot read its text.' };
  return { kind: 'adopted', adopted: { ...row, file: parsed.file, engine: createEngine(parsed.file) } };
}

function changed(): AppError {
  return new AppError('conflict', 'policy.changed', 'Another policy came into force meanwhile; nothing was done.', {
    hint: 'Look at it again and decide anew.',
  });
}
