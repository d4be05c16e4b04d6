// The face of the fleet slice: supervised upstream members, their pinned tools, and calls into them.
import type { Database } from '../../kernel/database.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type {
  Clock,
  Digest,
  Entropy,
  Files,
  HttpConnector,
  Log,
  Unsubscribe,
  UpstreamClient,
  UpstreamConnector,
} from '../../kernel/ports.ts';
import type { Audit } from '../audit/audit.ts';
import { createCatalog } from './catalog.ts';
import { createEnlistment } from './enlistment.ts';
import type {
  CatalogTool,
  CircuitView,
  Decision,
  ListedTool,
  MemberState,
  Naming,
  PinReview,
  Resolution,
  ToolKey,
  UpstreamSpec,
  UpstreamStatus,
} from './model.ts';
import { circuitOf, newMember } from './member.ts';
import { usualNaming } from './model.ts';
import type { PinnedTools } from './pinned-tools.ts';
import { disabled, notFound, quarantined, unaccepted, badSpec } from './refusals.ts';
import { openRoster, type Acceptable, type FindProgram, type RosterEntry } from './roster.ts';
import { startRounds } from './rounds.ts';
import type { OfferKind, Offers } from './offers.ts';
import { createOfferCatalog, type OfferCatalog } from './offer-catalog.ts';
import type { Acceptance } from './store.ts';
import type { SupervisedView } from './supervised.ts';

export interface UpstreamCall {
  /** Of the caller: an upstream that keeps state for each of its clients has one of its own sessions for it. */
  readonly session: string;
  /** What the caller said of itself with the request; absent for those of 2025, which cannot answer what an upstream asks back. */
  readonly client?: UpstreamClient | undefined;
  readonly tool: CatalogTool;
  /** Params to send, `name` already the upstream's own; JSON text, re-emitted from what was decided. Progress token added here. */
  readonly args: JsonObject | undefined;
  readonly rest: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: ((note: JsonObject) => void) | undefined;
  /** Asked when everything is ready, in the same tick as the sending; what it throws is the answer, and nothing was sent. */
  readonly beforeSend?: () => void;
}

/** A request for something else than a tool, with params as they are to be sent. */
export interface UpstreamErrand extends Pick<UpstreamCall, 'session' | 'client' | 'signal' | 'onProgress' | 'beforeSend'> {
  readonly upstream: string;
  readonly method: string;
  readonly params: JsonObject;
  /** What headers repeat of it where the upstream wants that (2026-07-28, `Mcp-Name`). */
  readonly name: string | undefined;
}

export type UpstreamAnswer =
  /** JSON text of the result, one validated slice of the upstream's bytes, and the same parsed. */
  | { readonly kind: 'result'; readonly json: string; readonly value: JsonObject; readonly isError: boolean }
  /** JSON text of the JSON-RPC error object the upstream answered with. */
  | { readonly kind: 'error'; readonly json: string; readonly code: number };

export interface MemberHealth {
  readonly ok: boolean;
  readonly tools?: number;
  readonly error?: string;
  readonly state: MemberState;
  readonly circuit: CircuitView;
  /** contracts/gate.txt, scopegate_diagnose. */
  readonly mode: 'none';
}

export interface Fleet {
  /** Accepted tools of all enabled, accepted upstreams in a stable order, from memory. */
  catalog(): readonly ListedTool[];
  /** The tool, served or quarantined, of a listed name that is not simply `<upstream>__<tool>`. */
  named(name: string): ToolKey | undefined;
  resolve(upstream: string, tool: string): Resolution;
  upstreams(): readonly string[];
  /** Starts the member when needed; throws the `fleet.*` codes. Rejects within the call deadline, always. */
  call(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** The same for everything else; there is no definition to hold it to. */
  relay(errand: UpstreamErrand): Promise<UpstreamAnswer>;
  /** Prompts, resources and templates of all upstreams that have started once, from memory. */
  readonly offers: Pick<OfferCatalog, 'prompts' | 'of' | 'promptNamed' | 'prompt'>;
  /** Whether a started upstream said that it has such things. */
  declares(upstream: string, capability: OfferKind | 'completions'): boolean;
  onOffersChanged(listener: (kind: OfferKind) => void): Unsubscribe;
  /** A bounded live probe (10 s each, all at once) of every enabled upstream; never rejects. */
  diagnose(signal: AbortSignal): Promise<Readonly<Record<string, MemberHealth>>>;
  onCatalogChanged(listener: () => void): Unsubscribe;
  /** The agent session is over: what upstreams keep for it is ended as well. */
  endSession(session: string): void;
  /** Resolves when every upstream of the file has been tried once. */
  settled(): Promise<void>;
  /** Stops every member; resolves when no child is left. */
  close(): Promise<void>;
}

/** What operators do to the fleet; for its own operations only. */
export interface FleetControl {
  status(): readonly UpstreamStatus[];
  /** A spec as it would be accepted now. */
  proposal(spec: UpstreamSpec): Promise<Acceptable>;
  /** The entry of the file as it would be accepted now; throws `fleet.not_found` or `fleet.bad_spec`. */
  standing(upstream: string): Acceptable;
  acceptance(upstream: string): Acceptance | undefined;
  /** Throws `fleet.bad_settings` when the file cannot be read; what is accepted then starts. */
  reload(): Promise<void>;
  accept(what: Acceptable, decision: Decision, write: boolean): Promise<MemberHealth>;
  /** Tries a member again that was left alone, whatever it was left alone for. */
  retry(upstream: string): Promise<MemberHealth>;
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

export interface FleetDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly files: Files;
  readonly settingsPath: string;
  readonly connector: UpstreamConnector;
  readonly http: HttpConnector;
  readonly findProgram: FindProgram;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly digest: Digest;
  readonly log: Log;
  /** The daemon's environment, of which children get a small part. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: plain, at most 64 characters. */
  readonly naming?: Naming;
}

const probeTimeoutMs = 10_000;

/** Throws `fleet.bad_settings` when sallyport.yaml cannot be read; upstreams start in the background. `fleetMigrations` must have run. */
export async function createFleet(deps: FleetDeps): Promise<Fleet & FleetControl> {
  const { files, settingsPath, clock, digest, log, naming = usualNaming } = deps;
  const listeners = new Set<() => void>();
  const catalog = createCatalog({ pinned: () => members().map(({ tools }) => tools), naming, digest });
  const changed = (): void => {
    catalog.forget();
    for (const listener of listeners) listener();
  };
  const offerListeners = new Set<(kind: OfferKind) => void>();
  const offered = (): Map<string, Offers> => new Map(members().map(({ accepted, offers }) => [accepted.spec.name, offers]));
  const offers = createOfferCatalog({ offers: offered, naming, digest });
  const offersChanged = (kind: OfferKind): void => {
    offers.forget();
    for (const listener of offerListeners) listener(kind);
  };
  const membersChanged = (): void => {
    changed();
    offersChanged('prompts');
    offersChanged('resources');
  };
  const enlist = createEnlistment({ ...deps, offersChanged });
  const roster = await openRoster({ ...deps, changed, membersChanged, enlist });
  const rounds = startRounds(clock, () => members().map(({ member }) => member));
  try {
    rounds.wake(await roster.reconcile());
  } catch (error) {
    rounds.stop();
    throw error;
  }
  const stopWatching = files.watch(settingsPath, () => {
    roster.reconcile().then(
      (fresh) => rounds.wake(fresh),
      (error: unknown) => log.error('sallyport.yaml is not used', { reason: asAppError(error).message }),
    );
  });

  function members(): Extract<RosterEntry, { kind: 'member' }>[] {
    return [...roster.entries().values()].filter((entry) => entry.kind === 'member');
  }

  function memberOf(upstream: string): Extract<RosterEntry, { kind: 'member' }> {
    const entry = roster.entries().get(upstream);
    if (entry === undefined) throw notFound(upstream);
    if (entry.kind === 'member') return entry;
    if (entry.state === 'disabled') throw disabled(upstream);
    if (entry.state === 'invalid')
      throw badSpec(`Upstream '${upstream}' is not understood: ${entry.why}`, 'Mend its entry in sallyport.yaml.');
    throw unaccepted(upstream, entry.why);
  }

  async function measured(entry: RosterEntry, signal: AbortSignal, timeoutMs = probeTimeoutMs): Promise<MemberHealth> {
    if (entry.kind === 'idle')
      return { ok: false, error: entry.why, state: 'stopped', circuit: circuitOf(newMember, 0), mode: 'none' };
    const { member, tools } = entry;
    const outcome = await member.measure(timeoutMs, signal).then(
      () => ({ ok: true, tools: tools.served().length }),
      (error: unknown) => ({ ok: false, error: asAppError(error).message }),
    );
    const { state, circuit } = member.view();
    return { ...outcome, state, circuit, mode: 'none' };
  }

  return {
    catalog: () => catalog.tools(),
    named: (name) => catalog.named(name),
    resolve(upstream, tool) {
      const entry = roster.entries().get(upstream);
      return entry?.kind === 'member' ? entry.tools.resolve(tool) : { kind: 'unknown' };
    },
    upstreams: () => [...roster.entries()].filter(([, entry]) => entry.kind === 'member').map(([name]) => name),
    async call({ session, client, tool, args, rest, signal, onProgress, beforeSend }) {
      const { member, tools, accepted } = memberOf(tool.upstream);
      const verify = (): void => {
        const now = tools.resolve(tool.tool);
        // A start or a change in between may have brought another definition than the one that was decided on.
        if (now.kind !== 'tool' || now.tool.hash !== tool.hash) throw quarantined(tool.upstream, tool.tool);
        beforeSend?.();
      };
      const params = JSON.stringify({ ...rest, name: tool.tool, ...(args === undefined ? {} : { arguments: args }) });
      const { callTimeoutMs } = accepted.spec;
      const reply = await member.call({
        session,
        method: 'tools/call',
        params,
        signal,
        timeoutMs: callTimeoutMs,
        onProgress,
        subject: { name: tool.tool, args, definition: tool.definition },
        client,
        verify,
      });
      if (reply.kind === 'error') return reply;
      return { ...reply, isError: reply.value['isError'] === true };
    },
    async relay({ upstream, params, name, beforeSend, ...errand }) {
      const { member, accepted } = memberOf(upstream);
      const reply = await member.call({
        ...errand,
        params: JSON.stringify(params),
        timeoutMs: accepted.spec.callTimeoutMs,
        ...(name === undefined ? {} : { subject: { name, args: undefined, definition: '' } }),
        ...(beforeSend === undefined ? {} : { verify: beforeSend }),
      });
      return reply.kind === 'error' ? reply : { ...reply, isError: false };
    },
    offers,
    declares(upstream, capability) {
      const entry = roster.entries().get(upstream);
      return entry?.kind === 'member' && entry.offers.declares(capability);
    },
    onOffersChanged(listener) {
      offerListeners.add(listener);
      return () => offerListeners.delete(listener);
    },
    async diagnose(signal) {
      const probed = [...roster.entries()].filter(([, entry]) => entry.kind === 'member' || entry.state !== 'disabled');
      return Object.fromEntries(
        await Promise.all(probed.map(async ([name, entry]) => [name, await measured(entry, signal)] as const)),
      );
    },
    onCatalogChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    endSession(session) {
      for (const { member } of members()) member.endSession(session);
    },
    settled: () => rounds.settled(),
    async close() {
      stopWatching();
      rounds.stop();
      await roster.close();
    },

    status: () => [...roster.entries()].map(([name, entry]) => statusOf(name, entry)),
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
      rounds.wake(await roster.reconcile());
    },
    async accept(what, decision, write) {
      await roster.accept(what, decision, write);
      rounds.wake(await roster.reconcile());
      const entry = roster.entries().get(what.spec.name);
      if (entry === undefined) throw notFound(what.spec.name);
      if (entry.kind === 'member' && entry.member.view().state === 'login_needed') entry.member.forgive();
      // A first start may install what it runs; whoever accepted it is told how it ended, not that it takes long.
      return measured(entry, new AbortController().signal, Math.max(probeTimeoutMs, what.spec.startTimeoutMs));
    },
    async retry(upstream) {
      const entry = memberOf(upstream);
      entry.member.forgive();
      return measured(entry, new AbortController().signal, Math.max(probeTimeoutMs, entry.accepted.spec.startTimeoutMs));
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

function warnedOf(tools: PinnedTools): readonly CatalogTool[] {
  return tools.served().filter(({ warnings }) => warnings.length > 0);
}

function troubleOf(tools: PinnedTools): Pick<UpstreamStatus, 'unusable' | 'warned'> {
  const unusable = tools.quarantined().flatMap(({ tool, unusable: why }) => (why === undefined ? [] : [{ tool, why }]));
  const warned = warnedOf(tools).length;
  return { ...(unusable.length === 0 ? {} : { unusable }), ...(warned === 0 ? {} : { warned }) };
}

function statusOf(name: string, entry: RosterEntry): UpstreamStatus {
  if (entry.kind === 'idle') return { name, state: entry.state, tools: 0, quarantined: 0, restarts: 0, error: entry.why };
  const { pid, state, circuit, restarts, era, sessions, lastError, stderrTail }: SupervisedView = entry.member.view();
  return {
    name,
    state,
    tools: entry.tools.served().length,
    quarantined: entry.tools.quarantined().length,
    ...troubleOf(entry.tools),
    restarts,
    circuit: circuit.state,
    ...placeOf(entry.accepted.spec),
    ...(pid === undefined ? {} : { pid }),
    ...(era === undefined ? {} : { era }),
    ...(sessions === undefined ? {} : { sessions }),
    ...(lastError === undefined ? {} : { error: lastError }),
    ...(stderrTail === undefined || stderrTail === '' ? {} : { stderr: stderrTail }),
  };
}

function placeOf({ transport }: UpstreamSpec): Pick<UpstreamStatus, 'kind' | 'command' | 'origin'> {
  if (transport.kind === 'http') return { kind: 'http', origin: new URL(transport.url).origin };
  return { kind: 'stdio', command: [transport.command, ...transport.args].join(' ') };
}
