// What operators do to the fleet: they accept and remove upstreams and definitions, and look closer than agents do. Whether they may was
// decided before.
import type { JsonObject } from '../../kernel/json.ts';
import { acceptanceFacts } from './acceptance-facts.ts';
import type { Supervised } from './supervised.ts';
import type { CatalogTool, Decision, PinReview, UpstreamSpec, UpstreamStatus } from './model.ts';
import { badSpec, notFound } from './refusals.ts';
import type { Acceptable, Carrier, MemberEntry, Roster, RosterEntry, Writing } from './roster.ts';
import type { RefKnowledge } from './secret-facts.ts';
import { parseSpec } from './spec.ts';
import type { Acceptance } from './store.ts';
import { measured, statusOf, tried, warnedOf, type MemberHealth, type Tried } from './upstream-status.ts';

/** For the operations of this slice, and for what registers upstreams on a person's word. */
export interface FleetControl {
  status(): readonly UpstreamStatus[];
  /** An entry as the file would have it; throws `fleet.bad_spec`. */
  draft(raw: unknown): UpstreamSpec;
  /** What stands under each name of the file now; `undefined` where it is not understood. */
  held(): ReadonlyMap<string, Acceptable | undefined>;
  /** Everything a person sees of what they are to accept. */
  facts(what: Acceptable): JsonObject;
  /** A bounded live probe of one upstream of the file; rejects with `fleet.not_found` alone. */
  probe(upstream: string, signal: AbortSignal): Promise<MemberHealth>;
  /** A spec as it would be accepted now. */
  proposal(spec: UpstreamSpec): Promise<Acceptable>;
  /** The entry of the file as it would be accepted now; throws `fleet.not_found` or `fleet.bad_spec`. */
  standing(upstream: string): Acceptable;
  acceptance(upstream: string): Acceptance | undefined;
  /** Throws `fleet.bad_settings` when the file cannot be read; what is accepted then starts. */
  reload(): Promise<void>;
  accept(what: Acceptable, decision: Decision, write: Writing, carry?: Carrier): Promise<Tried>;
  /** Tries a member again that was left alone, whatever it was left alone for. */
  retry(upstream: string): Promise<Tried>;
  remove(upstream: string, decision: Decision): Promise<void>;
  reviews(upstream: string | undefined): readonly PinReview[];
  /** Served tools with a warning; of one upstream, or of all. */
  warned(upstream: string | undefined): readonly CatalogTool[];
  acceptTools(
    upstream: string,
    offers: readonly { readonly tool: string; readonly hash: string }[],
    decision: Decision,
  ): Promise<void>;
}

export interface FleetControlDeps {
  readonly roster: Roster;
  readonly refs: RefKnowledge;
  readonly members: () => readonly MemberEntry[];
  /** Throws for an upstream that is not to be called. */
  readonly memberOf: (upstream: string) => MemberEntry;
  /** Members to be started soon. */
  readonly wake: (fresh: readonly Supervised[]) => void;
}

export function createFleetControl({ roster, refs, members, memberOf, wake }: FleetControlDeps): FleetControl {
  return {
    status: () => [...roster.entries()].map(([name, entry]) => statusOf(name, entry)),
    draft(raw) {
      const parsed = parseSpec(raw, 'upstream');
      if (parsed.ok) return parsed.spec;
      throw badSpec(parsed.problem, 'See: sallyport upstream add --help');
    },
    held: () => new Map([...roster.entries()].map(([name, entry]) => [name, acceptableOf(entry)])),
    facts: (what) => acceptanceFacts(what, roster.acceptance(what.spec.name), refs),
    async probe(upstream, signal) {
      const entry = roster.entries().get(upstream);
      if (entry === undefined) throw notFound(upstream);
      return measured(entry, signal);
    },
    proposal: (spec) => roster.acceptable(spec),
    standing(upstream) {
      const entry = roster.entries().get(upstream);
      if (entry === undefined) throw notFound(upstream);
      if (entry.kind === 'member') return entry.accepted;
      if (entry.acceptable === undefined)
        throw badSpec(`Upstream '${upstream}' is not understood: ${entry.why}`, 'Mend its entry in sallyport.yaml.');
      return entry.acceptable;
    },
    acceptance: (upstream) => roster.acceptance(upstream),
    async reload() {
      wake(await roster.reconcile());
    },
    async accept(what, decision, write, carry) {
      await roster.accept(what, decision, write, carry);
      wake(await roster.reconcile());
      const entry = roster.entries().get(what.spec.name);
      if (entry === undefined) throw notFound(what.spec.name);
      if (entry.kind === 'member' && parked.has(entry.member.view().state)) entry.member.forgive();
      return tried(entry, what.spec.startTimeoutMs);
    },
    async retry(upstream) {
      const entry = memberOf(upstream);
      entry.member.forgive();
      return tried(entry, entry.accepted.spec.startTimeoutMs);
    },
    async remove(upstream, decision) {
      if (!roster.entries().has(upstream)) throw notFound(upstream);
      await roster.remove(upstream, decision);
      await roster.reconcile();
    },
    reviews(upstream) {
      if (upstream !== undefined) return memberOf(upstream).tools.reviews();
      return members().flatMap(({ tools }) => tools.reviews());
    },
    warned: (upstream) => (upstream === undefined ? members() : [memberOf(upstream)]).flatMap(({ tools }) => warnedOf(tools)),
    acceptTools: (upstream, offers, decision) => memberOf(upstream).tools.accept(offers, decision),
  };
}

/** A person decided anew: it is worth another try. */
const parked: ReadonlySet<string> = new Set(['login_needed', 'waiting_for_secrets']);

function acceptableOf(entry: RosterEntry): Acceptable | undefined {
  return entry.kind === 'member' ? entry.accepted : entry.acceptable;
}
