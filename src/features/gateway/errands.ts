// Requests other than tool calls as the one page sends them: what is decided about, and the params under the upstream's own name. Refuses
// what cannot be decided about; whether it may be is for the page.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { RelayRequest, RelayTarget } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { uriFault } from '../../lib/plain-uri.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Policy } from '../policy/policy.ts';
import { refusedByPolicy } from './admission.ts';
import { knownRead, type Errand } from './model.ts';
import type { OfferListing, OfferTarget } from './offer-listing.ts';

interface ErrandDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
  readonly offers: OfferListing;
}

/** Throws `gateway.bad_uri`, `gateway.unknown_prompt`, `gateway.unknown_resource`, or `policy.denied` for what a deny covers. */
export function errandOf({ fleet, policy, offers }: ErrandDeps, caller: AgentCaller, request: RelayRequest): Errand {
  const { method, target, scope, rest, args, session, client, signal } = { ...request, session: caller.session };
  if (target.kind === 'method')
    throw new AppError('invalid', 'gateway.unknown_method', `There is no method '${target.name}' here.`);
  assertPlain(target);
  const found = offers.target(caller, scope, target);
  if (found === undefined) throw unknown(target);
  const { upstream, capability } = found;
  const verdict = policy.decide({ agent: caller.agent, capability, annotations: knownRead });
  if (verdict.effect === 'deny' && verdict.hard) throw refusedByPolicy(capability, verdict);
  if (verdict.effect === 'deny' && verdict.code === 'invalid_capability')
    throw target.kind === 'prompt' ? unknown(target) : badUri(verdict.reason);
  if (!fleet.upstreams().includes(upstream)) throw unknown(target);
  const prompt = target.kind === 'prompt' ? fleet.offers.prompt(upstream, found.key) : undefined;
  if (target.kind === 'prompt' && prompt === undefined) throw unknown(target);
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
    send: (hooks) =>
      fleet.relay({
        upstream,
        method,
        params: paramsOf(request, found),
        name: completes ? undefined : found.key,
        session,
        client,
        signal,
        ...hooks,
      }),
  };
}

function paramsOf({ target, rest, args }: RelayRequest, { key }: OfferTarget): JsonObject {
  const { ref } = rest;
  if (isObject(ref)) return { ...rest, ref: target.kind === 'prompt' ? { ...ref, name: key } : { ...ref, uri: key } };
  if (target.kind !== 'prompt') return { ...rest, uri: key };
  return { ...rest, name: key, ...(args === undefined ? {} : { arguments: args }) };
}

/** What of a completion a person would be shown, and an approval of it is about. */
function askedOf({ argument, context }: JsonObject): JsonObject {
  return { ...(argument === undefined ? {} : { argument }), ...(context === undefined ? {} : { context }) };
}

/** Before anything is decided: a URI with two spellings could be decided in one and read in the other. */
function assertPlain(target: RelayTarget): void {
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

function unknown(target: RelayTarget): AppError {
  if (!('uri' in target)) return new AppError('invalid', 'gateway.unknown_prompt', `Unknown prompt '${target.name}'`);
  return new AppError('invalid', 'gateway.unknown_resource', 'Resource not found', { data: { uri: target.uri } });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
