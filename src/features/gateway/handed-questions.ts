// Questions that reach a client of 2026-07-28 within a result, and its answers within the next request: no byte of either is the gateway's,
// yet what policy refuses is not handed on, and of roots no upstream gets more than it is allowed. What the client can answer is for itself
// to say.
import type { AgentCaller } from '../../kernel/caller.ts';
import { actorOf } from '../../kernel/caller.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Audit } from '../audit/audit.ts';
import { isObject, policyOnAsk, type AskDeps } from './ask-verdict.ts';
import { notAnswered, questionsOf } from './fulfil.ts';
import { limitRoots } from './roots.ts';

export interface HandingDeps extends AskDeps {
  readonly audit: Audit;
  readonly rootsOf: (upstream: string) => readonly string[];
}

/** Records what is handed on; throws `gateway.not_answered` where a question may not be asked, and what a log that is down throws. */
export function handOn(
  deps: HandingDeps,
  caller: AgentCaller,
  upstream: string,
  answer: { readonly json: string; readonly value: JsonObject },
  intent: string,
): void {
  const { audit, rootsOf } = deps;
  const actor = actorOf(caller);
  const questions = questionsOf(upstream, answer);
  for (const { method, params } of questions) {
    const verdict = policyOnAsk(deps, caller, upstream, method, params);
    const rootless = method === 'roots/list' && rootsOf(upstream).length === 0;
    if (verdict.effect === 'pass' && !rootless) continue;
    audit.appendQuietly({ event: 'ask.refused', actor, facts: { upstream, intent }, sealed: { method } });
    throw notAnswered(upstream, verdict.effect === 'refuse' ? verdict.message : 'it is told of no roots');
  }
  const facts = { upstream, intent, methods: questions.map(({ method }) => method) };
  audit.append({ event: 'ask.handed', actor, facts, sealed: { questions: answer.json } });
}

/** `inputResponses` as they go upstream: with roots cut to what it is told. */
export function limitAnswers({ inputResponses = null }: JsonObject, allowed: readonly string[]): JsonObject {
  if (!isObject(inputResponses)) return { inputResponses };
  const limited = (answer: Json): Json =>
    isObject(answer) && answer['roots'] !== undefined ? limitRoots(answer, allowed) : answer;
  const entries = Object.entries(inputResponses).map(([key, answer]) => [key, limited(answer)] as const);
  return { inputResponses: Object.fromEntries(entries) };
}
