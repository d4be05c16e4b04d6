// The tools of one upstream under one accepted spec: pins and quarantine in memory, every change of them one commit with its record.
// Quarantine bites at once, before it is on the record; what is accepted counts only after.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Database } from '../../kernel/database.ts';
import type { Clock, Digest, Log } from '../../kernel/ports.ts';
import { createTurns } from '../../lib/turns.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/model.ts';
import { catalogTool, hex, readDefinition, type Definition } from './definition.ts';
import type { CatalogTool, Decision, PinReview, QuarantinedTool, Resolution } from './model.ts';
import { reviewsOf, sortOffer, withoutDoubles, type Pin } from './pins.ts';
import { markPinned, readPins, writeOffer, writePin, type PinKey } from './store.ts';

export interface PinnedToolsDeps {
  readonly db: Database;
  readonly audit: Pick<Audit, 'commit'>;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
  readonly key: PinKey;
  /** Empty = all. */
  readonly exposeTools: readonly string[];
  readonly changed: () => void;
}

export interface PinnedTools {
  /** In the order of their names. */
  served(): readonly CatalogTool[];
  quarantined(): readonly QuarantinedTool[];
  resolve(tool: string): Resolution;
  reviews(): readonly PinReview[];
  /** Everything the upstream lists now, as JSON texts. The first offer under a spec pins all of it. */
  offer(texts: readonly string[]): Promise<void>;
  /** Accepts exactly these offers; throws `fleet.changed` when one is not offered with this hash any more. */
  accept(offers: readonly { readonly tool: string; readonly hash: string }[], decision: Decision): Promise<void>;
}

export async function openPinnedTools(deps: PinnedToolsDeps): Promise<PinnedTools> {
  const { db, audit, clock, digest, log, key, exposeTools, changed } = deps;
  const takeTurn = createTurns();
  /** Quarantined in memory, not on the record yet. */
  const unrecorded = new Set<string>();
  const stored = await readPins(db.queries, key);
  const pins = new Map<string, Pin>(stored.pins.filter(isIntact).map((pin) => [pin.tool, pin]));
  let { pinned } = stored;
  let quarantined = new Map(stored.quarantined.map((definition) => [definition.tool, definition]));
  let served = new Map<string, CatalogTool>();
  let inOrder: readonly CatalogTool[] = [];
  serve(stored.served);

  /** A definition that is not the one of its hash was accepted by nobody: the tool counts as new. */
  function isIntact({ tool, hash, text }: Pin): boolean {
    try {
      const definition = readDefinition(text, digest);
      if (definition?.tool === tool && definition.hash === hash) return true;
    } catch {
      // No JSON.
    }
    log.error('a stored tool definition is not the accepted one and is not served', { upstream: key.upstream, tool });
    return false;
  }

  function serve(names: readonly string[]): void {
    served = new Map(names.flatMap((name) => toolOf(pins.get(name))).map((tool) => [tool.tool, tool]));
    inOrder = [...served.values()].toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
  }

  function toolOf(pin: Pin | undefined): CatalogTool[] {
    if (pin === undefined || quarantined.has(pin.tool)) return [];
    const known = served.get(pin.tool);
    return [known?.hash === pin.hash ? known : catalogTool(key.upstream, pin)];
  }

  function read(texts: readonly string[]): Definition[] {
    const definitions = texts.map((text) => readDefinition(text, digest));
    const nameless = definitions.filter((definition) => definition === undefined).length;
    if (nameless > 0)
      log.warn('an upstream lists definitions without a usable name; they are left out', {
        upstream: key.upstream,
        count: nameless,
      });
    const known = definitions.filter((definition) => definition !== undefined);
    return withoutDoubles(known.filter(({ tool }) => exposeTools.length === 0 || exposeTools.includes(tool)));
  }

  async function pinAll(offered: readonly Definition[]): Promise<void> {
    const usable = offered.filter(({ unusable }) => unusable === undefined);
    const bad = offered.filter(({ unusable }) => unusable !== undefined);
    const all = hex(
      digest.sha256(
        usable
          .map(({ tool, hash }) => `${tool}\n${hash}\n`)
          .toSorted()
          .join(''),
      ),
    );
    await audit.commit(async (tx) => {
      await markPinned(tx, key, new Date(clock.now()).toISOString());
      for (const pin of usable) await writePin(tx, key, pin);
      await writeOffer(
        tx,
        key,
        usable.map(({ tool }) => tool),
        bad,
      );
      const facts = { upstream: key.upstream, spec: key.specDigest, count: usable.length, digest: all };
      return { value: undefined, entries: [{ event: 'tool.pinned', actor: 'daemon', facts }, ...bad.map(quarantineEntry)] };
    });
    pinned = true;
    for (const pin of usable) pins.set(pin.tool, { tool: pin.tool, hash: pin.hash, text: pin.text });
    quarantined = new Map(bad.map((definition) => [definition.tool, definition]));
    if (bad.length > 0) log.warn('tools are left out, as no client could take them', { upstream: key.upstream, count: bad.length });
    serve(usable.map(({ tool }) => tool));
  }

  function quarantineEntry({ tool, hash, unusable }: Definition): AuditEntry {
    const change = pins.has(tool) ? 'changed' : 'new';
    return {
      event: 'tool.quarantined',
      actor: 'daemon',
      facts: { upstream: key.upstream, tool, hash, change, usable: unusable === undefined },
    };
  }

  async function compare(offered: readonly Definition[]): Promise<void> {
    const sorted = sortOffer(pins, offered);
    const fresh = sorted.quarantined.filter(({ tool, hash }) => unrecorded.has(tool) || quarantined.get(tool)?.hash !== hash);
    const before = stateText();
    quarantined = new Map(sorted.quarantined.map((definition) => [definition.tool, definition]));
    serve(sorted.served);
    if (stateText() === before && fresh.length === 0) return;
    if (stateText() !== before) changed();
    if (fresh.length > 0)
      log.warn('tool definitions wait for a person to look at them', { upstream: key.upstream, count: fresh.length });
    for (const { tool } of fresh) unrecorded.add(tool);
    try {
      await audit.commit(
        async (tx) => {
          await writeOffer(tx, key, sorted.served, sorted.quarantined);
          return { value: undefined, entries: fresh.map(quarantineEntry) };
        },
        { keepsRights: true },
      );
      unrecorded.clear();
    } catch (error) {
      // It is quarantined all the same; the next listing tries again to put it on the record.
      log.error('a quarantine could not be recorded', { upstream: key.upstream, reason: asAppError(error).message });
    }
  }

  /** Two equal texts mean that nothing an agent or a person can see has changed. */
  function stateText(): string {
    return JSON.stringify([
      inOrder.map(({ tool, hash }) => [tool, hash]),
      [...quarantined.values()].map(({ tool, hash }) => [tool, hash]),
    ]);
  }

  async function inTurn(work: () => Promise<void>): Promise<void> {
    const giveBack = await takeTurn();
    try {
      await work();
    } finally {
      giveBack();
    }
  }

  return {
    served: () => inOrder,
    quarantined: () =>
      [...quarantined.values()].map(({ tool, unusable }) => ({
        upstream: key.upstream,
        tool,
        ...(unusable === undefined ? {} : { unusable }),
      })),
    resolve(tool) {
      const found = served.get(tool);
      if (found !== undefined) return { kind: 'tool', tool: found };
      return quarantined.has(tool) ? { kind: 'quarantined', upstream: key.upstream, tool } : { kind: 'unknown' };
    },
    reviews: () => reviewsOf(key.upstream, pins, new Set(served.keys()), quarantined),
    offer: (texts) =>
      inTurn(async () => {
        const offered = read(texts);
        if (pinned) return compare(offered);
        await pinAll(offered);
        changed();
      }),
    accept: (offers, decision) =>
      inTurn(async () => {
        const accepted = offers.map(({ tool, hash }) => {
          const offer = quarantined.get(tool);
          if (offer === undefined || offer.hash !== hash) throw moved(key.upstream, tool);
          if (offer.unusable !== undefined) throw hopeless(key.upstream, tool, offer.unusable);
          return offer;
        });
        await audit.commit(
          async (tx) => {
            for (const pin of accepted) await writePin(tx, key, pin);
            const entries = accepted.map(({ tool, hash }): AuditEntry => ({
              event: 'tool.accepted',
              actor: decision.actor,
              facts: { upstream: key.upstream, tool, hash, previous: pins.get(tool)?.hash ?? null, proof: decision.proof ?? null },
            }));
            return { value: undefined, entries };
          },
          { decision: true },
        );
        for (const { tool, hash, text } of accepted) {
          pins.set(tool, { tool, hash, text });
          quarantined.delete(tool);
        }
        serve([...served.keys(), ...accepted.map(({ tool }) => tool)]);
        changed();
      }),
  };
}

function moved(upstream: string, tool: string): AppError {
  return new AppError('conflict', 'fleet.changed', `'${upstream}' no longer offers '${tool}' with the definition that was shown.`, {
    hint: `Look again with: sallyport tools review ${upstream}`,
  });
}

function hopeless(upstream: string, tool: string, why: string): AppError {
  return new AppError('invalid', 'fleet.quarantined', `'${tool}' of '${upstream}' cannot be served: ${why}.`, {
    hint: 'Nobody can accept it: only its authors can mend it.',
  });
}
