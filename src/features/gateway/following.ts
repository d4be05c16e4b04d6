// Who is told when a resource changes: decided like a read when it is asked for and again at each change, recorded, bounded, and over
// with the session. Words of the upstream go out as they came. Knows no connection and no stream.
import { actorOf, type AgentCaller } from '../../kernel/caller.ts';
import type { ClientHost } from '../../kernel/client-host.ts';
import type { ResourceFollowing } from '../../kernel/dispatch.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import { plainPrefixes } from '../../lib/plain-prefixes.ts';
import { uriFault } from '../../lib/plain-uri.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit } from '../audit/audit.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ResourceUpdate } from '../fleet/model.ts';
import type { Grants } from '../grants/grants.ts';
import type { RedactCategory, Verdict } from '../policy/model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Results } from '../results/results.ts';
import { refusedByPolicy } from './admission.ts';
import { createFollowers, type Followed } from './followers.ts';
import type { GovernedHosts } from './governed-hosts.ts';
import { heldGrant } from './held-grant.ts';
import { knownRead } from './model.ts';
import { offerCapability, type OfferListing } from './offer-listing.ts';
import { offerTarget } from './offer-target.ts';

export interface Following {
  /** Resolves when the upstream agreed. Throws what `offerTarget` throws, `policy.denied`, `gateway.not_followable`, `gateway.too_many_followed`. */
  follow(caller: AgentCaller, request: ResourceFollowing): Promise<void>;
  unfollow(caller: AgentCaller, request: Pick<ResourceFollowing, 'scope' | 'uri' | 'host'>): void;
  sessionEnded(session: string): void;
}

interface FollowingDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
  readonly grants: Grants;
  readonly agents: Pick<Agents, 'assertActive'>;
  readonly audit: Pick<Audit, 'append' | 'appendQuietly'>;
  readonly results: Results;
  readonly offers: OfferListing;
  readonly hosts: GovernedHosts;
}

const updatedMethod = 'notifications/resources/updated';

export function createFollowing(deps: FollowingDeps): Following {
  const { fleet, policy, grants, agents, audit, results, hosts } = deps;
  const followers = createFollowers();
  fleet.onUpdated(updated);
  fleet.onLeft((upstream) => followers.ofUpstream(upstream).forEach((followed) => end(followed, 'upstream_left')));

  function decide(agent: string, capability: string): Verdict {
    return policy.decide({ agent, capability, annotations: knownRead });
  }

  /** What of it has to be masked, or why it may not be had. There is nobody to ask at each change, so what a person gave has to be there. */
  function standing(agent: string, capability: string): readonly RedactCategory[] | AppError {
    const verdict = decide(agent, capability);
    if (verdict.effect === 'deny') return refusedByPolicy(capability, verdict);
    if (verdict.effect === 'allow' || heldGrant(grants, agent, capability, verdict, {}) !== undefined) return verdict.redact;
    return new AppError('denied', 'gateway.not_followable', `A human has to agree to '${capability}', which no update waits for.`, {
      hint: 'Read the resource, which asks the human. A capability that the human gave for a time lets you follow it as well.',
    });
  }

  async function follow(caller: AgentCaller, { scope, uri, host, signal }: ResourceFollowing): Promise<void> {
    const { upstream, capability } = offerTarget(deps, caller, scope, { kind: 'resource', uri });
    const masked = standing(caller.agent, capability);
    if (masked instanceof AppError) throw masked;
    if (!fleet.declares(upstream, 'subscriptions')) throw notFollowable(upstream);
    const followed = { caller, upstream, uri, capability, host };
    if (followers.has(followed)) return;
    followers.assertRoom(caller);
    audit.append({ event: 'resource.followed', actor: actorOf(caller), facts: { capability, policy: policy.version() } });
    // Before the upstream agrees: what it tells right after has somebody to hear it.
    followers.add(followed);
    try {
      const reply = await fleet.follow({ upstream, party: { ...caller, host: hosts.of(host, upstream, caller) }, uri, signal });
      if (reply.kind === 'error') throw refusedByUpstream(upstream, reply.json);
      signal.throwIfAborted();
    } catch (thrown) {
      end(followed, 'refused');
      throw asAppError(thrown);
    }
    // Taken back while the upstream was asked: what it has agreed to meanwhile is for nobody.
    if (!followers.has(followed)) leave(followed);
  }

  function end(followed: Followed, reason: string): void {
    if (!followers.remove(followed)) return;
    const { caller, capability } = followed;
    audit.appendQuietly({ event: 'resource.unfollowed', actor: actorOf(caller), facts: { capability, reason } });
    leave(followed);
  }

  function leave({ caller, upstream, uri }: Followed): void {
    if (!followers.anyOf(caller.session, upstream, uri)) fleet.unfollow(upstream, caller.session, uri);
  }

  /** A resource may be told of by a part of it ("Subscriptions"): of that as well the agent only hears what it may read. */
  function updated(update: ResourceUpdate): void {
    if (uriFault(update.uri) !== undefined || update.uri.includes('*')) return;
    const told = new Set<ClientHost>();
    for (const uri of plainPrefixes(update.uri)) {
      for (const followed of followers.of(update.upstream, uri)) {
        const { host, caller } = followed;
        if (update.session !== undefined && update.session !== caller.session) continue;
        if (!told.has(host) && tell(followed, update)) told.add(host);
      }
    }
  }

  function tell(followed: Followed, { upstream, uri, text }: ResourceUpdate): boolean {
    const { agent } = followed.caller;
    if (!isActive(agent)) return false;
    const whole = standing(agent, followed.capability);
    if (whole instanceof AppError) {
      end(followed, 'policy');
      return false;
    }
    const part = uri === followed.uri ? whole : standing(agent, offerCapability('resource', upstream, uri));
    if (part instanceof AppError) return false;
    followed.host.notify(updatedMethod, results.redact(text, [...new Set([...whole, ...part])]).json);
    return true;
  }

  function isActive(agent: string): boolean {
    try {
      agents.assertActive(agent);
      return true;
    } catch {
      return false;
    }
  }

  return {
    follow,
    unfollow({ session }, { scope, uri, host }) {
      for (const followed of followers.ofSession(session)) {
        const here = scope.kind === 'all' || (scope.kind === 'upstream' && scope.upstream === followed.upstream);
        if (here && followed.uri === uri && followed.host === host) end(followed, 'asked');
      }
    },
    sessionEnded(session) {
      for (const followed of followers.ofSession(session)) end(followed, 'session_ended');
    },
  };
}

function notFollowable(upstream: string): AppError {
  return new AppError('invalid', 'gateway.not_followable', `Upstream '${upstream}' does not tell when a resource changes.`, {
    hint: 'Read the resource again when you need to know.',
  });
}

/** `json` is an error object of JSON-RPC. */
function refusedByUpstream(upstream: string, json: string): AppError {
  const { message } = JSON.parse(json) as { readonly message: string };
  return new AppError(
    'invalid',
    'gateway.not_followable',
    `Upstream '${upstream}' refused to tell of it: ${message.slice(0, 200)}`,
    {
      hint: 'Look whether the URI is the one it lists.',
    },
  );
}
