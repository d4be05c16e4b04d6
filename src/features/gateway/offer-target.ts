// The prompt, resource or template a request is about, found as its agent may find it, or refused in the words that tell nothing more.
// Decides only what a deny covers; whether it may be had is for whoever asks.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import { uriFault } from '../../lib/plain-uri.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Policy } from '../policy/policy.ts';
import { refusedByPolicy } from './admission.ts';
import { knownRead } from './model.ts';
import type { Offered, OfferListing, OfferTarget } from './offer-listing.ts';

export interface OfferTargetDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
  readonly offers: OfferListing;
}

/** Throws `gateway.bad_uri`, `gateway.unknown_prompt`, `gateway.unknown_resource`, or `policy.denied` for what a deny covers. */
export function offerTarget(
  { fleet, policy, offers }: OfferTargetDeps,
  caller: AgentCaller,
  scope: ToolScope,
  target: Offered,
): OfferTarget {
  assertPlain(target);
  const found = offers.target(caller, scope, target);
  if (found === undefined) throw unknownOffer(target);
  const { upstream, capability } = found;
  const verdict = policy.decide({ agent: caller.agent, capability, annotations: knownRead });
  if (verdict.effect === 'deny' && verdict.hard) throw refusedByPolicy(capability, verdict);
  if (verdict.effect === 'deny' && verdict.code === 'invalid_capability')
    throw target.kind === 'prompt' ? unknownOffer(target) : badUri(verdict.reason);
  if (!fleet.upstreams().includes(upstream)) throw unknownOffer(target);
  return found;
}

/** Before anything is decided: a URI with two spellings could be decided in one and read in the other, and a '*' would be a pattern. */
function assertPlain(target: Offered): void {
  if (target.kind === 'prompt' && target.name.includes('*')) throw unknownOffer(target);
  if (!('uri' in target)) return;
  const fault = uriFault(target.uri.replaceAll(/[{}]/g, ''));
  if (fault !== undefined) throw badUri(`The URI ${fault}.`);
  if (target.kind === 'resource' && target.uri.includes('*')) throw badUri("The URI holds a '*', which would be a pattern.");
}

function badUri(why: string): AppError {
  return new AppError('invalid', 'gateway.bad_uri', why, {
    hint: 'Use the URI as the upstream lists it; one that no capability can name cannot be read through this gateway.',
  });
}

export function unknownOffer(target: Offered): AppError {
  if (target.kind === 'prompt') return new AppError('invalid', 'gateway.unknown_prompt', `Unknown prompt '${target.name}'`);
  return new AppError('invalid', 'gateway.unknown_resource', 'Resource not found', { data: { uri: target.uri } });
}
