// The face of the fleet slice: supervised upstream members, their pinned tools, and calls into them.
import type { Database } from '../../kernel/database.ts';
import type { Offering } from '../../kernel/dispatch.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { Clock, Digest, Entropy, Files, HttpConnector, Log, Unsubscribe, UpstreamConnector } from '../../kernel/ports.ts';
import { createListeners } from '../../lib/listeners.ts';
import type { Audit } from '../audit/audit.ts';
import type { UpstreamAuth } from '../auth/auth.ts';
import { createCatalog } from './catalog.ts';
import { createEnlistment } from './enlistment.ts';
import { createFleetControl, type FleetControl } from './fleet-control.ts';
import {
  usualNaming,
  type ListedTool,
  type Naming,
  type Party,
  type Resolution,
  type ResourceUpdate,
  type TaskNotice,
  type ToolKey,
  type UpstreamSpec,
} from './model.ts';
import { createOfferCatalog, type OfferCatalog } from './offer-catalog.ts';
import type { Declared, OfferKind, Offers } from './offers.ts';
import { badSpec, disabled, notFound, unaccepted } from './refusals.ts';
import { openRoster, type FindProgram, type MemberEntry } from './roster.ts';
import { startRounds } from './rounds.ts';
import { createUpstreamCalls, type UpstreamCalls } from './upstream-calls.ts';
import { measured, type MemberHealth } from './upstream-status.ts';

export type { Acceptable, Carrier } from './roster.ts';
export type { FleetControl, MemberHealth };
export type { UpstreamAnswer, UpstreamCall, UpstreamErrand } from './upstream-calls.ts';

export interface Fleet extends UpstreamCalls {
  /** Accepted tools of all enabled, accepted upstreams in a stable order, from memory. */
  catalog(): readonly ListedTool[];
  /** The tool, served or quarantined, of a listed name that is not simply `<upstream>__<tool>`. */
  named(name: string): ToolKey | undefined;
  resolve(upstream: string, tool: string): Resolution;
  upstreams(): readonly string[];
  /** What operators accepted of them, as it is in use. */
  specs(): readonly UpstreamSpec[];
  /** Prompts, resources and templates of all upstreams that have started once, from memory. */
  readonly offers: Pick<OfferCatalog, 'prompts' | 'of' | 'promptNamed' | 'prompt'>;
  /** Whether a started upstream said that it has such things. */
  declares(upstream: string, capability: Declared): boolean;
  /** What a started upstream said of itself. */
  said(upstream: string): Offering['upstream'];
  /** A resource that a session follows changed. */
  onUpdated(listener: (update: ResourceUpdate) => void): Unsubscribe;
  onTaskNotice(listener: (notice: TaskNotice) => void): Unsubscribe;
  /** The one process that served everybody ended. */
  onStopped(listener: (upstream: string) => void): Unsubscribe;
  /** An upstream is gone for good: whatever goes by its name next is another. */
  onLeft(listener: (upstream: string) => void): Unsubscribe;
  /** Whether each agent session has a session of its own with it, and what is kept in that. */
  keepsPerSession(upstream: string): boolean;
  onOffersChanged(listener: (kind: OfferKind) => void): Unsubscribe;
  /** A bounded live probe (10 s each, all at once) of every enabled upstream; never rejects. */
  diagnose(signal: AbortSignal): Promise<Readonly<Record<string, MemberHealth>>>;
  onCatalogChanged(listener: () => void): Unsubscribe;
  /** Places whose part of a client's roots this upstream is told; none where it is told of none. */
  rootsOf(upstream: string): readonly string[];
  /** The roots of the session's client changed: what of its own it has at upstreams that are told of roots is told so. */
  rootsChanged(party: Party): void;
  /** The agent session is over: what upstreams keep for it is ended as well. */
  endSession(session: string): void;
  /** Resolves when every upstream of the file has been tried once. */
  settled(): Promise<void>;
  /** Stops every member; resolves when no child is left. */
  close(): Promise<void>;
}

export interface FleetDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly files: Files;
  readonly settingsPath: string;
  readonly connector: UpstreamConnector;
  readonly http: HttpConnector;
  readonly auth: UpstreamAuth;
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

/** Throws `fleet.bad_settings` when sallyport.yaml cannot be read; upstreams start in the background. `fleetMigrations` must have run. */
export async function createFleet(deps: FleetDeps): Promise<Fleet & FleetControl> {
  const { files, settingsPath, clock, digest, log, naming = usualNaming } = deps;
  const [catalogChanged, offersMoved] = [createListeners<[]>(), createListeners<[OfferKind]>()];
  const [updates, taskNotices] = [createListeners<[ResourceUpdate]>(), createListeners<[TaskNotice]>()];
  const [stops, departures] = [createListeners<[string]>(), createListeners<[string]>()];
  const catalog = createCatalog({ pinned: () => members().map(({ tools }) => tools), naming, digest });
  const changed = (): void => {
    catalog.forget();
    catalogChanged.tell();
  };
  const offered = (): Map<string, Offers> => new Map(members().map(({ accepted, offers }) => [accepted.spec.name, offers]));
  const offers = createOfferCatalog({ offers: offered, naming, digest });
  const offersChanged = (kind: OfferKind): void => {
    offers.forget();
    offersMoved.tell(kind);
  };
  const membersChanged = (): void => {
    changed();
    offersChanged('prompts');
    offersChanged('resources');
  };
  const enlist = createEnlistment({
    ...deps,
    offersChanged,
    updated: updates.tell,
    taskNoticed: taskNotices.tell,
    stopped: stops.tell,
  });
  const roster = await openRoster({ ...deps, changed, membersChanged, left: departures.tell, enlist });
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

  function members(): MemberEntry[] {
    return [...roster.entries().values()].filter((entry) => entry.kind === 'member');
  }

  function find(upstream: string): MemberEntry | undefined {
    const entry = roster.entries().get(upstream);
    return entry?.kind === 'member' ? entry : undefined;
  }

  function memberOf(upstream: string): MemberEntry {
    const entry = roster.entries().get(upstream);
    if (entry === undefined) throw notFound(upstream);
    if (entry.kind === 'member') return entry;
    if (entry.state === 'disabled') throw disabled(upstream);
    if (entry.state === 'invalid')
      throw badSpec(`Upstream '${upstream}' is not understood: ${entry.why}`, 'Mend its entry in sallyport.yaml.');
    throw unaccepted(upstream, entry.why);
  }

  return {
    catalog: () => catalog.tools(),
    named: (name) => catalog.named(name),
    resolve: (upstream, tool) => find(upstream)?.tools.resolve(tool) ?? { kind: 'unknown' },
    upstreams: () => [...roster.entries()].filter(([, entry]) => entry.kind === 'member').map(([name]) => name),
    specs: () => members().map(({ accepted }) => accepted.spec),
    ...createUpstreamCalls(memberOf, find),
    offers,
    declares: (upstream, capability) => find(upstream)?.offers.declares(capability) ?? false,
    said: (upstream) => find(upstream)?.offers.said(),
    onUpdated: updates.add,
    onTaskNotice: taskNotices.add,
    onStopped: stops.add,
    onLeft: departures.add,
    keepsPerSession(upstream) {
      const entry = find(upstream);
      return entry?.accepted.spec.sharing === 'session' || entry?.offers.keepsSessions() === true;
    },
    onOffersChanged: offersMoved.add,
    async diagnose(signal) {
      const probed = [...roster.entries()].filter(([, entry]) => entry.kind === 'member' || entry.state !== 'disabled');
      return Object.fromEntries(
        await Promise.all(probed.map(async ([name, entry]) => [name, await measured(entry, signal)] as const)),
      );
    },
    onCatalogChanged: catalogChanged.add,
    rootsOf: (upstream) => find(upstream)?.accepted.spec.roots ?? [],
    rootsChanged(party) {
      for (const { member, accepted } of members())
        if (accepted.spec.roots.length > 0) member.tell(party, 'notifications/roots/list_changed');
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
    ...createFleetControl({ roster, refs: deps.auth, members, memberOf, wake: (fresh) => rounds.wake(fresh) }),
  };
}
