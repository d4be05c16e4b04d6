// The values of one namespace: who may be handed them, and which are still masked. Knows their bytes only while it hands them out.
import type { Clock, Log, Unsubscribe } from '../../kernel/ports.ts';
import type { AuditEntry } from '../audit/model.ts';
import { openValue, sealValue } from './entry.ts';
import { mostRefs, previousLifeMs, type Decision, type Namespace, type RefFacts, type Secret } from './model.ts';
import { damaged, refExists, tooManyRefs, unknownRef } from './refusals.ts';
import type { EntryRow, VaultRows } from './rows.ts';
import type { Changed, OpenVault, Safe } from './safe.ts';
import type { VaultTools } from './sealing.ts';
import { assertValue } from './secret-value.ts';

export interface Secrets {
  /** Sorted by name; also while the vault is locked. */
  list(): readonly RefFacts[];
  known(ref: string): boolean;
  /** A copy of each current value, in the order asked for. Throws `vault.unknown_ref`, and what `Safe.opened` throws. */
  values(refs: readonly string[]): readonly Secret[];
  /** Copies of the current and the previous value of each, and of values that were removed a short while ago. */
  redactionValues(refs: readonly string[]): readonly Uint8Array[];
  add(ref: string, value: Uint8Array, by: Decision): Promise<RefFacts>;
  rotate(ref: string, value: Uint8Array, by: Decision): Promise<RefFacts>;
  remove(ref: string, by: Decision): Promise<void>;
  /** Calls back, after the commit, when the value of a reference became another one or went away. */
  onChanged(listener: (ref: string) => void): Unsubscribe;
  close(): void;
}

export interface SecretsDeps {
  readonly safe: Safe;
  readonly tools: VaultTools;
  readonly namespace: Namespace;
  readonly clock: Clock;
  readonly log: Log;
}

interface Removed {
  readonly ref: string;
  readonly value: Uint8Array;
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
}

function wipe(values: readonly Removed[]): void {
  for (const { value } of values) value.fill(0);
}

/** A change that failed is tried again after this. */
const againMs = 60_000;

export function createSecrets({ safe, tools, namespace, clock, log }: SecretsDeps): Secrets {
  const listeners = new Set<(ref: string) => void>();
  /** Values that are in no row any more, but perhaps in a process that was given them. */
  let removed: readonly Removed[] = [];
  let cancelTimer: Unsubscribe | undefined;
  const stopListening = [safe.onOpened(() => void retire()), safe.onForgotten(() => forgetRemoved(Number.POSITIVE_INFINITY))];

  const mine = (rows: VaultRows | undefined): readonly EntryRow[] =>
    rows === undefined ? [] : rows.entries.filter((entry) => entry.namespace === namespace);
  const currentOf = (rows: VaultRows | undefined, ref: string): EntryRow | undefined =>
    mine(rows).find(({ name, state }) => name === ref && state === 'current');

  function valueOf({ rows, key }: OpenVault, row: EntryRow): Uint8Array {
    const value = openValue(tools, key, rows.head, row);
    if (value === undefined) throw damaged();
    return value;
  }

  /** `value` in place of what `ref` has; the one before stays for redaction, older ones go. */
  function replaced({ rows, key }: OpenVault, ref: string, value: Uint8Array): { rows: VaultRows; version: number } {
    const before = currentOf(rows, ref);
    const version =
      Math.max(
        0,
        ...mine(rows)
          .filter(({ name }) => name === ref)
          .map((row) => row.version),
      ) + 1;
    const place = { namespace, name: ref, version };
    const row: EntryRow = {
      ...place,
      state: 'current',
      changed_at: new Date(clock.now()).toISOString(),
      until: null,
      ...sealValue(tools, key, rows.head, place, value),
    };
    const until = new Date(clock.now() + previousLifeMs).toISOString();
    const others = rows.entries.filter((entry) => entry.namespace !== namespace || entry.name !== ref);
    const previous = before === undefined ? [] : [{ ...before, state: 'previous', until }];
    return { rows: { ...rows, entries: [...others, ...previous, row] }, version };
  }

  async function put(ref: string, value: Uint8Array, event: AuditEntry['event'], by: Decision, check: (had: boolean) => void) {
    assertValue(value);
    await safe.change((now): Changed => {
      check(currentOf(now.rows, ref) !== undefined);
      const { rows, version } = replaced(now, ref, value);
      return { rows, entries: [entryOf(event, { ref, version }, by)] };
    });
    tell(ref);
    retireLater();
    return factsOf(safe.rows(), ref);
  }

  function entryOf(event: AuditEntry['event'], facts: { ref: string; version: number }, by: Decision): AuditEntry {
    return { event, actor: by.actor, facts: { namespace, ...facts, ...(by.proof && { proof: by.proof }) } };
  }

  function factsOf(rows: VaultRows | undefined, ref: string): RefFacts {
    const row = currentOf(rows, ref);
    if (row === undefined) throw unknownRef(ref);
    const before = mine(rows).find(({ name, state }) => name === ref && state === 'previous');
    return {
      ref,
      version: row.version,
      changedAt: row.changed_at,
      ...(before?.until != null && { previousUntil: before.until }),
    };
  }

  /** Takes out previous values whose time is over; their rows are gone with the commit. */
  async function retire(): Promise<void> {
    forgetRemoved(clock.now());
    const due = (entry: EntryRow): boolean => entry.until !== null && Date.parse(entry.until) <= clock.now();
    try {
      if (safe.state() === 'open' && mine(safe.rows()).some(due)) {
        await safe.change(({ rows }) => {
          const gone = mine(rows).filter(due);
          const entries = gone.map(({ name: ref, version }) => entryOf('secret.retired', { ref, version }, { actor: 'daemon' }));
          return { rows: { ...rows, entries: rows.entries.filter((entry) => !gone.includes(entry)) }, entries };
        });
      }
      retireLater();
    } catch (thrown) {
      log.warn('previous values of secrets are kept longer than they should be', { cause: String(thrown) });
      schedule(againMs);
    }
  }

  function retireLater(): void {
    const rows = mine(safe.rows()).flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
    const instants = [...rows, ...removed.map(({ until }) => until)];
    if (instants.length > 0) schedule(Math.max(0, Math.min(...instants) - clock.now()));
  }

  function schedule(ms: number): void {
    cancelTimer?.();
    cancelTimer = clock.after(ms, () => void retire());
  }

  function forgetRemoved(now: number): void {
    for (const { value, until } of removed) if (until <= now) value.fill(0);
    removed = removed.filter(({ until }) => until > now);
  }

  function tell(ref: string): void {
    for (const listener of listeners) listener(ref);
  }

  return {
    list() {
      const names = mine(safe.rows()).filter(({ state }) => state === 'current');
      return names.map(({ name }) => factsOf(safe.rows(), name)).toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
    },
    known: (ref) => currentOf(safe.rows(), ref) !== undefined,

    values(refs) {
      const now = safe.opened();
      return refs.map((ref) => {
        const row = currentOf(now.rows, ref);
        if (row === undefined) throw unknownRef(ref);
        const value = valueOf(now, row);
        return { ref, version: row.version, value, wipe: () => void value.fill(0) };
      });
    },

    redactionValues(refs) {
      const now = safe.opened();
      const stored = mine(now.rows).filter(({ name }) => refs.includes(name));
      const gone = removed.filter(({ ref }) => refs.includes(ref)).map(({ value }) => new Uint8Array(value));
      return [...stored.map((row) => valueOf(now, row)), ...gone];
    },

    add: (ref, value, by) =>
      put(ref, value, 'secret.added', by, (had) => {
        if (had) throw refExists(ref);
        if (mine(safe.rows()).length >= mostRefs) throw tooManyRefs();
      }),

    rotate: (ref, value, by) =>
      put(ref, value, 'secret.rotated', by, (had) => {
        if (!had) throw unknownRef(ref);
      }),

    async remove(ref, by) {
      let gone: readonly Removed[] = [];
      await safe
        .change((now) => {
          const row = currentOf(now.rows, ref);
          if (row === undefined) throw unknownRef(ref);
          wipe(gone);
          // The one before, too: it was to be masked for the rest of its day.
          const rows = mine(now.rows).filter(({ name }) => name === ref);
          gone = rows.map((one) => ({
            ref,
            value: valueOf(now, one),
            until: one.until === null ? clock.now() + previousLifeMs : Date.parse(one.until),
          }));
          const entries = now.rows.entries.filter((entry) => !rows.includes(entry));
          return { rows: { ...now.rows, entries }, entries: [entryOf('secret.removed', { ref, version: row.version }, by)] };
        })
        .catch((thrown: unknown) => {
          wipe(gone);
          throw thrown;
        });
      removed = [...removed, ...gone];
      tell(ref);
      retireLater();
    },

    onChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      cancelTimer?.();
      for (const stop of stopListening) stop();
      forgetRemoved(Number.POSITIVE_INFINITY);
    },
  };
}
