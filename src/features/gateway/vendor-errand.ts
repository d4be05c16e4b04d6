// A method of one upstream that nobody else knows, made ready to be sent: decided as `<upstream>:method:<name>`, for which no rule means
// no, and held for a write, because nobody can say what it does. Whether the upstream has it is the upstream's to say.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { RelayRequest } from '../../kernel/dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Policy } from '../policy/policy.ts';
import type { Errand } from './model.ts';

interface VendorDeps {
  readonly fleet: Fleet;
  readonly policy: Policy;
}

/**
 * Throws `gateway.unknown_method` where no rule speaks of it, no capability can name it, or there is no such upstream: a client that
 * tries out methods is answered as JSON-RPC has it. What a deny covers is left to be refused like every other denied thing.
 */
export function vendorErrand({ fleet, policy }: VendorDeps, { agent, session }: AgentCaller, request: RelayRequest): Errand {
  const { method, scope, rest, client, signal } = request;
  if (scope.kind !== 'upstream' || method.includes('*')) throw unknownMethod(method);
  const { upstream } = scope;
  const capability = `${upstream}:method:${method}`;
  const verdict = policy.decide({ agent, capability, args: rest, annotations: {} });
  if (verdict.effect === 'deny' && !verdict.hard) throw unknownMethod(method, verdict.code === 'no_rule' ? capability : undefined);
  if (verdict.effect !== 'deny' && !fleet.upstreams().includes(upstream)) throw unknownMethod(method);
  return {
    subject: { capability, hash: undefined, annotations: {} },
    args: rest,
    method,
    send: (sending, more) =>
      fleet.relay({
        upstream,
        method,
        params: more === undefined ? rest : { ...rest, ...more },
        name: undefined,
        agent,
        session,
        client,
        signal,
        ...sending,
      }),
  };
}

const maxShown = 128;

function unknownMethod(method: string, capability?: string): AppError {
  const what = `There is no method '${method.slice(0, maxShown)}' here.`;
  const how = capability === undefined ? '' : ` A rule that allows '${capability.slice(0, 2 * maxShown)}' would let it through.`;
  return new AppError('invalid', 'gateway.unknown_method', `${what}${how}`);
}
