// Questions that reach a client of 2026-07-28 within a result, and its answers within the next request: no byte of either is the gateway's,
// yet what may not be asked is not handed on, and of roots no upstream gets more than it is allowed.
import type { AgentCaller } from '../../kernel/caller.ts';
import { actorOf } from '../../kernel/caller.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Audit } from '../audit/audit.ts';
import type { UpstreamAnswer } from '../fleet/fleet.ts';
import { isObject } from './ask-verdict.ts';
import { needsInput, notAnswered, questionsOf } from './fulfil.ts';
import type { GovernedHost } from './governed-hosts.ts';
import { limitRoots } from './roots.ts';

/** Records what is handed on; throws `gateway.not_answered` where a question may not be asked, and what a log that is down throws. */
export function handOn(
  audit: Audit,
  caller: AgentCaller,
  upstream: string,
  answer: UpstreamAnswer,
  host: Pick<GovernedHost, 'refusal'>,
  intent: string,
): void {
  if (!needsInput(answer)) return;
  const questions = questionsOf(upstream, answer);
  for (const { method, params } of questions) {
    const refusal = host.refusal(method, params);
    if (refusal === undefined) continue;
    audit.appendQuietly({ event: 'ask.refused', actor: actorOf(caller), facts: { upstream, intent }, sealed: { method } });
    throw notAnswered(upstream, refusal);
  }
  const facts = { upstream, intent, methods: questions.map(({ method }) => method) };
  audit.append({ event: 'ask.handed', actor: actorOf(caller), facts, sealed: { questions: answer.json } });
}

/** `inputResponses` as they go upstream: with roots cut to what it is told. */
export function limitAnswers({ inputResponses = null }: JsonObject, allowed: readonly string[]): JsonObject {
  if (!isObject(inputResponses)) return { inputResponses };
  const limited = (answer: Json): Json =>
    isObject(answer) && answer['roots'] !== undefined ? limitRoots(answer, allowed) : answer;
  const entries = Object.entries(inputResponses).map(([key, answer]) => [key, limited(answer)] as const);
  return { inputResponses: Object.fromEntries(entries) };
}
