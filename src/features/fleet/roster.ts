// Which upstreams there are: sallyport.yaml held against what operators accepted. An entry runs only as far as it was accepted; edits of
// the file take effect no further than that. Calls and tools are not its business.
import { asAppError } from '../../kernel/errors.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import type { Clock, Digest, Files, Log } from '../../kernel/ports.ts';
import { createTurns } from '../../lib/turns.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import { childEnvironment } from './environment.ts';
import type { Decision, EntryState, UpstreamSpec } from './model.ts';
import type { Offers } from './offers.ts';
import { openPinnedTools, type PinnedTools } from './pinned-tools.ts';
import { readUpstreams, withoutUpstream, withReplaced, withUpstream, type SettingsEntry } from './settings.ts';
import { specDigest } from './spec.ts';
import { deleteAcceptance, markReported, readAcceptances, writeAcceptance, type Acceptance } from './store.ts';
import type { Supervised } from './supervised.ts';

/** Which file a command means; see platform/program-path.ts. */
export type FindProgram = (
  command: string,
  where: { readonly cwd?: string | undefined; readonly path?: string | undefined },
) => Promise<string | undefined>;

export interface RosterDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly files: Files;
  readonly settingsPath: string;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly findProgram: FindProgram;
  readonly enlist: (accepted: Acceptable, tools: PinnedTools) => Enlisted;
  /** The catalog may have changed. */
  readonly changed: () => void;
  /** Members came or went. */
  readonly membersChanged: () => void;
  /** A member is gone for good: whatever goes by its name next is another. */
  readonly left: (upstream: string) => void;
}

/** An entry as it would be accepted now. */
export interface Acceptable {
  readonly spec: UpstreamSpec;
  readonly specDigest: string;
  readonly program: string | undefined;
}

/** A member, and what it offers besides tools. */
export interface Enlisted {
  readonly member: Supervised;
  readonly offers: Offers;
}

export interface MemberEntry extends Enlisted {
  readonly kind: 'member';
  readonly accepted: Acceptable;
  readonly tools: PinnedTools;
}

export type RosterEntry =
  | MemberEntry
  | { readonly kind: 'idle'; readonly state: EntryState; readonly why: string; readonly acceptable: Acceptable | undefined };

export type Writing = boolean | 'replace';

/** Commits once: what `stage` writes within its transaction, and the entries that `stage` gives for the record. */
export type Carrier = (stage: (tx: Transaction) => Promise<readonly AuditEntry[]>) => Promise<void>;

export interface Roster {
  entries(): ReadonlyMap<string, RosterEntry>;
  /** Reads the file again and starts and stops what follows from it; resolves when what is to stop has stopped. Throws `fleet.bad_settings`. */
  reconcile(): Promise<readonly Supervised[]>;
  acceptable(spec: UpstreamSpec): Promise<Acceptable>;
  acceptance(name: string): Acceptance | undefined;
  /**
   * Records and stores the decision; with `write` the entry is put into the file as well, `replace`: in the place of the one of its name.
   * `carry` commits it together with something else.
   */
  accept(what: Acceptable, decision: Decision, write: Writing, carry?: Carrier): Promise<void>;
  remove(name: string, decision: Decision): Promise<void>;
  close(): Promise<void>;
}

export async function openRoster(deps: RosterDeps): Promise<Roster> {
  const { db, audit, files, settingsPath, clock, digest, log, environment } = deps;
  const takeTurn = createTurns();
  const acceptances = new Map((await readAcceptances(db.queries)).map((acceptance) => [acceptance.upstream, acceptance]));
  let entries = new Map<string, RosterEntry>();
  let closed = false;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const giveBack = await takeTurn();
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  const decided: Carrier = (stage) =>
    audit.commit(async (tx) => ({ value: undefined, entries: await stage(tx) }), { decision: true });

  async function acceptable(spec: UpstreamSpec): Promise<Acceptable> {
    return { spec, specDigest: specDigest(spec, digest), program: await programOf(spec) };
  }

  async function programOf(spec: UpstreamSpec): Promise<string | undefined> {
    if (spec.transport.kind === 'http') return undefined;
    const { command, cwd } = spec.transport;
    return deps.findProgram(command, { cwd, path: childEnvironment(spec, environment)['PATH'] });
  }

  async function judge(entry: SettingsEntry): Promise<RosterEntry> {
    if ('problem' in entry) return { kind: 'idle', state: 'invalid', why: entry.problem, acceptable: undefined };
    const what = await acceptable(entry.spec);
    if (!entry.spec.enabled) return { kind: 'idle', state: 'disabled', why: 'it is disabled in sallyport.yaml', acceptable: what };
    const why = refusalOf(what, acceptances.get(entry.name));
    if (why !== undefined) return { kind: 'idle', state: 'unaccepted', why, acceptable: what };
    const running = entries.get(entry.name);
    if (running?.kind === 'member' && sameService(running.accepted, what)) return running;
    const key = { upstream: entry.name, specDigest: what.specDigest };
    const { exposeTools } = entry.spec;
    const tools = await openPinnedTools({ db, audit, clock, digest, log, key, exposeTools, changed: deps.changed });
    // What was accepted is what is started, wherever the PATH leads by then.
    const accepted = { ...what, program: acceptances.get(entry.name)?.program };
    return { kind: 'member', accepted, tools, ...deps.enlist(accepted, tools) };
  }

  async function report(name: string, entry: RosterEntry): Promise<void> {
    if (entry.kind !== 'idle' || entry.state === 'disabled') return;
    log.warn(`upstream not started: ${entry.why}`, {
      upstream: name,
      ...(entry.state === 'unaccepted' && { run: `sallyport upstream accept ${name}` }),
    });
    const what = entry.acceptable;
    if (what === undefined) return;
    try {
      await audit.commit(
        async (tx) => {
          const first = await markReported(tx, { upstream: name, specDigest: `${what.specDigest} ${what.program ?? ''}` });
          const facts = { upstream: name, spec: what.specDigest, program: what.program ?? null };
          return { value: undefined, entries: first ? [{ event: 'upstream.unaccepted', actor: 'daemon', facts }] : [] };
        },
        { keepsRights: true },
      );
    } catch (error) {
      log.error('an upstream that nobody accepted could not be recorded', { upstream: name, reason: asAppError(error).message });
    }
  }

  async function reconcileNow(): Promise<readonly Supervised[]> {
    if (closed) return [];
    const settings = readUpstreams((await files.readText(settingsPath)) ?? '');
    const before = entries;
    const after = new Map<string, RosterEntry>();
    for (const entry of settings) after.set(entry.name, await judge(entry));
    entries = after;
    const leaving = [...before.values()].filter(isMember).filter((entry) => after.get(entry.accepted.spec.name) !== entry);
    const coming = [...after].filter(([name, entry]) => before.get(name) !== entry);
    await Promise.all(leaving.map(({ member }) => member.stop()));
    for (const { accepted } of leaving) deps.left(accepted.spec.name);
    for (const [name, entry] of coming) await report(name, entry);
    if (leaving.length > 0 || coming.length > 0) deps.membersChanged();
    return coming
      .map(([, entry]) => entry)
      .filter(isMember)
      .map(({ member }) => member);
  }

  return {
    entries: () => entries,
    reconcile: () => inTurn(reconcileNow),
    acceptable,
    acceptance: (name) => acceptances.get(name),
    accept: (what, decision, write, carry = decided) =>
      inTurn(async () => {
        const { name } = what.spec;
        const acceptance = { upstream: name, specDigest: what.specDigest, program: what.program };
        const before = write === false ? '' : ((await files.readText(settingsPath)) ?? '');
        const text = write === false ? undefined : (write === 'replace' ? withReplaced : withUpstream)(before, what.spec);
        const proof = decision.proof ?? null;
        await carry(async (tx) => {
          await writeAcceptance(tx, acceptance, new Date(clock.now()).toISOString(), JSON.stringify(proof));
          const facts = { upstream: name, spec: what.specDigest, program: what.program ?? null, proof };
          return [{ event: 'upstream.added', actor: decision.actor, facts }];
        });
        acceptances.set(name, acceptance);
        if (text !== undefined) await files.writeAtomic(settingsPath, text);
      }),
    remove: (name, decision) =>
      inTurn(async () => {
        const text = (await files.readText(settingsPath)) ?? '';
        await audit.commit(
          async (tx) => {
            await deleteAcceptance(tx, name);
            return {
              value: undefined,
              entries: [
                { event: 'upstream.removed', actor: decision.actor, facts: { upstream: name, proof: decision.proof ?? null } },
              ],
            };
          },
          { decision: true },
        );
        acceptances.delete(name);
        await files.writeAtomic(settingsPath, withoutUpstream(text, name));
      }),
    close: () =>
      inTurn(async () => {
        closed = true;
        await Promise.all([...entries.values()].filter(isMember).map(({ member }) => member.stop()));
      }),
  };
}

function isMember(entry: RosterEntry): entry is MemberEntry {
  return entry.kind === 'member';
}

function refusalOf(what: Acceptable, acceptance: Acceptance | undefined): string | undefined {
  if (acceptance === undefined) return 'no operator accepted it';
  if (acceptance.specDigest !== what.specDigest) return 'its entry in sallyport.yaml is not the one that was accepted';
  // A program that is gone is told by the start itself.
  if (what.program === undefined || what.program === acceptance.program) return undefined;
  const then =
    acceptance.program === undefined ? 'was not installed when it was accepted' : `was ${acceptance.program} when it was accepted`;
  return `its command now means ${what.program} and ${then}`;
}

function sameService(a: Acceptable, b: Acceptable): boolean {
  return (
    a.specDigest === b.specDigest &&
    a.spec.startTimeoutMs === b.spec.startTimeoutMs &&
    a.spec.callTimeoutMs === b.spec.callTimeoutMs &&
    a.spec.maxSessions === b.spec.maxSessions &&
    a.spec.idleStopMs === b.spec.idleStopMs
  );
}
