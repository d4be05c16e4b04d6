// What an endpoint has besides tools, and what the one upstream behind it said of itself. An upstream that a deny covers whole has
// nothing and said nothing, as if it were not there (DESIGN invariant 7). Sends nothing.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { Offering, ToolScope } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { OfferList } from '../fleet/model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Listing } from './listing.ts';
import { knownRead } from './model.ts';
import type { OfferListing } from './offer-listing.ts';
import { extensionTasks, sessionTasks } from './task-words.ts';

export interface Offerings {
  of(caller: AgentCaller, scope: ToolScope): Offering;
  /** Whether the agent may call, have or ask for anything of it. */
  reaches(agent: string, upstream: string): boolean;
}

interface OfferingDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
  readonly listing: Listing;
  readonly offers: OfferListing;
}

export function createOfferings({ fleet, policy, listing, offers }: OfferingDeps): Offerings {
  /** A deny on all of an action, or on part of it: then what is listed says whether anything is left. */
  function open(agent: string, upstream: string, action: string): boolean {
    const verdict = policy.decide({ agent, capability: `${upstream}:${action}:*`, annotations: knownRead });
    return verdict.effect !== 'deny' || !verdict.hard;
  }

  function lists(agent: string, upstream: string, ...names: readonly OfferList[]): boolean {
    return names.some((list) => offers.list({ agent }, { kind: 'upstream', upstream }, list).length > 0);
  }

  function reaches(agent: string, upstream: string): boolean {
    return (
      ['call', 'read', 'prompt', 'method'].some((action) => open(agent, upstream, action)) ||
      listing.tools({ kind: 'agent', agent, session: '' }, { kind: 'upstream', upstream }).length > 0 ||
      lists(agent, upstream, 'prompts', 'resources', 'resourceTemplates')
    );
  }

  function offeredBy(agent: string, upstream: string): Offering {
    const has = (kind: 'prompts' | 'resources', action: string, ...names: readonly OfferList[]): boolean =>
      fleet.declares(upstream, kind) && (open(agent, upstream, action) || lists(agent, upstream, ...names));
    const prompts = has('prompts', 'prompt', 'prompts');
    const resources = has('resources', 'read', 'resources', 'resourceTemplates');
    return {
      prompts,
      resources,
      completions: (prompts || resources) && fleet.declares(upstream, 'completions'),
      logging: fleet.declares(upstream, 'logging') && reaches(agent, upstream),
      subscriptions: resources && fleet.declares(upstream, 'subscriptions'),
    };
  }

  /** What one can of them all can: which of them a task is with is found out by its id. */
  function tasksOf(agent: string, upstreams: readonly string[]): Pick<Offering, 'sessionTasks' | 'extensionTasks'> {
    const said = upstreams.filter((upstream) => reaches(agent, upstream)).map((upstream) => fleet.said(upstream));
    const sessions = said.map((one) => sessionTasks(one)).filter((one) => one !== undefined);
    const extensions = said.map((one) => extensionTasks(one)).filter((one) => one !== undefined);
    const all = (settings: readonly JsonObject[]): JsonObject =>
      settings.reduce<JsonObject>((one, other) => ({ ...one, ...other }), {});
    return {
      ...(sessions.length === 0 ? {} : { sessionTasks: all(sessions) }),
      ...(extensions.length === 0 ? {} : { extensionTasks: all(extensions) }),
    };
  }

  return {
    reaches,
    of({ agent }, scope) {
      const upstreams = scope.kind === 'all' ? fleet.upstreams() : scope.kind === 'upstream' ? [scope.upstream] : [];
      const all = upstreams.map((upstream) => offeredBy(agent, upstream));
      const some = (what: 'prompts' | 'resources' | 'completions' | 'logging' | 'subscriptions'): boolean =>
        all.some((offering) => offering[what]);
      const said = scope.kind === 'upstream' && reaches(agent, scope.upstream) ? fleet.said(scope.upstream) : undefined;
      return {
        prompts: some('prompts'),
        resources: some('resources'),
        completions: some('completions'),
        logging: some('logging'),
        subscriptions: some('subscriptions'),
        ...tasksOf(agent, upstreams),
        ...(said === undefined ? {} : { upstream: said }),
      };
    },
  };
}
