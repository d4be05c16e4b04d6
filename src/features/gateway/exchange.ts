// One errand and its upstream until there is an answer: what it asks back on the way is asked on behalf of the caller, or handed on within
// the result where the caller's revision has it so. All of it is the one execution that was let pass. Decides nothing itself.
import { actorOf, type AgentCaller } from '../../kernel/caller.ts';
import type { ToolCall } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';
import { fulfil, notAnswered, type NeedsInput } from './fulfil.ts';
import type { GovernedHost, GovernedHosts } from './governed-hosts.ts';
import { handOn, limitAnswers, type HandingDeps } from './handed-questions.ts';
import type { Errand, Sending } from './model.ts';

export interface ExchangeDeps extends HandingDeps {
  readonly clock: Clock;
  readonly hosts: GovernedHosts;
}

/** What of a request the exchange needs. */
export type Exchanged = Pick<ToolCall, 'host' | 'client' | 'rest' | 'signal'>;

export interface Exchange {
  /** The caller's client as this errand's upstream may see it; nothing where there is nobody to ask. */
  hostOf(caller: AgentCaller, errand: Errand, call: Exchanged): GovernedHost | undefined;
  /** Answers the caller gives of its own accord, as they go upstream beside the rest; nothing where it gives none. */
  answersOf(errand: Errand, call: Exchanged): JsonObject | undefined;
  /**
   * From an answer that needs input to one that does not, or to the caller. Throws what sending throws, and `gateway.not_answered`.
   * `intent` is that of the call.
   */
  goOn(
    answer: NeedsInput,
    way: {
      readonly caller: AgentCaller;
      readonly errand: Errand;
      readonly sending: Sending;
      readonly call: Exchanged;
      readonly host: GovernedHost | undefined;
      readonly intent: string;
    },
  ): Promise<UpstreamAnswer>;
}

/** What may need further input (spec 2026-07-28, "Multi Round-Trip Requests"). */
const asking: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

export function createExchange(deps: ExchangeDeps): Exchange {
  const { audit, clock, hosts, rootsOf } = deps;
  return {
    hostOf: (caller, { subject }, { host }) => (host === undefined ? undefined : hosts.of(host, upstreamOf(subject), caller)),

    answersOf: ({ subject }, { rest }) =>
      rest['inputResponses'] === undefined ? undefined : limitAnswers(rest, rootsOf(upstreamOf(subject))),

    async goOn(answer, { caller, errand, sending, call, host, intent }) {
      const { method = 'tools/call' } = errand;
      const upstream = upstreamOf(errand.subject);
      if (call.client !== undefined) return handOn(deps, caller, upstream, answer, intent);
      // Nobody to ask, and the wire let it through: an upstream of an earlier revision, in which this is no question.
      if (host === undefined) return answer;
      // A repetition of any other would be a second execution.
      if (!asking.has(method)) throw notAnswered(upstream, `${method} cannot be asked further`);
      return fulfil(clock, answer, {
        upstream,
        host,
        signal: call.signal,
        send: (more) => errand.send(sending, more),
        record(round, more) {
          const facts = { upstream, intent, round };
          audit.append({ event: 'call.resumed', actor: actorOf(caller), facts, sealed: { more: JSON.stringify(more) } });
        },
      });
    },
  };
}

function upstreamOf({ capability }: Errand['subject']): string {
  return capability.slice(0, capability.indexOf(':'));
}
