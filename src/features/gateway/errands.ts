// Requests other than tool calls as the one page sends them: what is decided about, and the params under the upstream's own name. Refuses
// what cannot be decided about; whether it may be is for the page.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { RelayRequest } from '../../kernel/dispatch.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { knownRead, type Errand } from './model.ts';
import type { Offered, OfferTarget } from './offer-listing.ts';
import { offerTarget, unknownOffer, type OfferTargetDeps } from './offer-target.ts';
import { vendorErrand } from './vendor-errand.ts';

/** Throws what `offerTarget` throws, and `gateway.unknown_method`. */
export function errandOf(
  deps: OfferTargetDeps,
  caller: AgentCaller,
  request: RelayRequest,
  target: Offered | Extract<RelayRequest['target'], { kind: 'method' }>,
): Errand {
  const { method, scope, rest, args, session, client, signal } = { ...request, session: caller.session };
  if (target.kind === 'method') return vendorErrand(deps, caller, request);
  const { fleet } = deps;
  const found = offerTarget(deps, caller, scope, target);
  const { upstream, capability } = found;
  const prompt = target.kind === 'prompt' ? fleet.offers.prompt(upstream, found.key) : undefined;
  if (target.kind === 'prompt' && prompt === undefined) throw unknownOffer(target);
  const completes = method === 'completion/complete';
  return {
    // Of a completion nothing is bound to the definition: an approval of one must never pass for one of the prompt itself.
    subject: {
      capability,
      hash: completes ? undefined : prompt?.hash,
      annotations: knownRead,
      countless: target.kind !== 'prompt',
    },
    args: completes ? askedOf(rest) : args,
    method,
    send: (sending, more) =>
      fleet.relay({
        upstream,
        method,
        params: more === undefined ? paramsOf(request, target, found) : { ...paramsOf(request, target, found), ...more },
        name: completes ? undefined : found.key,
        agent: caller.agent,
        session,
        client,
        signal,
        ...sending,
      }),
  };
}

function paramsOf({ method, rest, args }: RelayRequest, target: Offered, { key }: OfferTarget): JsonObject {
  const { ref } = rest;
  if (method === 'completion/complete' && isObject(ref))
    return { ...rest, ref: target.kind === 'prompt' ? { ...ref, name: key } : { ...ref, uri: key } };
  if (target.kind !== 'prompt') return { ...rest, uri: key };
  return { ...rest, name: key, ...(args === undefined ? {} : { arguments: args }) };
}

/** What of a completion a person would be shown, and an approval of it is about. */
function askedOf({ argument, context }: JsonObject): JsonObject {
  return { ...(argument === undefined ? {} : { argument }), ...(context === undefined ? {} : { context }) };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
