// Questions that reach a client of 2026-07-28 within a result, and its answers within the next request: no byte of either is the gateway's,
// yet what policy refuses is not handed on, what it masks is masked, and of roots no upstream gets more than it is allowed. What the client
// can answer is for itself to say.
import type { AgentCaller } from '../../kernel/caller.ts';
import { actorOf } from '../../kernel/caller.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { hasDuplicateKeys, objectMembers } from '../../lib/json-text.ts';
import type { Audit } from '../audit/audit.ts';
import type { RedactCategory } from '../policy/model.ts';
import type { Results } from '../results/results.ts';
import { isObject, policyOnAsk, type AskDeps } from './ask-verdict.ts';
import { notAnswered, questionsOf, type NeedsInput } from './fulfil.ts';
import { limitRoots } from './roots.ts';

export interface HandingDeps extends AskDeps {
  readonly audit: Audit;
  readonly results: Results;
  readonly rootsOf: (upstream: string) => readonly string[];
}

/**
 * The answer as the client gets it, on the record. Throws `gateway.not_answered` where a question may not be asked or could be read in two
 * ways, and what a log that is down throws.
 */
export function handOn(deps: HandingDeps, caller: AgentCaller, upstream: string, answer: NeedsInput, intent: string): NeedsInput {
  const { audit, results, rootsOf } = deps;
  const actor = actorOf(caller);
  if (hasDuplicateKeys(answer.json)) throw notAnswered(upstream, 'a key stands twice in what it asks');
  const questions = questionsOf(upstream, answer);
  const redact = new Set<RedactCategory>();
  for (const { method, params } of questions) {
    const verdict = policyOnAsk(deps, caller, upstream, method, params);
    const rootless = method === 'roots/list' && rootsOf(upstream).length === 0;
    if (verdict.effect === 'pass' && !rootless) {
      for (const category of verdict.redact) redact.add(category);
      continue;
    }
    audit.appendQuietly({ event: 'ask.refused', actor, facts: { upstream, intent }, sealed: { method } });
    throw notAnswered(upstream, verdict.effect === 'refuse' ? verdict.message : 'it is told of no roots');
  }
  const facts = { upstream, intent, methods: questions.map(({ method }) => method) };
  audit.append({ event: 'ask.handed', actor, facts, sealed: { questions: answer.json } });
  return redact.size === 0 ? answer : masked(answer, (text) => results.redact(text, [...redact]).json);
}

/** In its questions alone: the state beside them is for nobody but the upstream, which has to get it back as it was. */
function masked(answer: NeedsInput, mask: (text: string) => string): NeedsInput {
  const asked = objectMembers(answer.json)?.find(({ key }) => key === 'inputRequests');
  if (asked === undefined) return answer;
  const { start, end } = asked;
  const json = `${answer.json.slice(0, start)}${mask(answer.json.slice(start, end))}${answer.json.slice(end)}`;
  return { ...answer, json, value: JSON.parse(json) as JsonObject };
}

/** `inputResponses` as they go upstream: with roots cut to what it is told. */
export function limitAnswers({ inputResponses = null }: JsonObject, allowed: readonly string[]): JsonObject {
  if (!isObject(inputResponses)) return { inputResponses };
  const limited = (answer: Json): Json =>
    isObject(answer) && answer['roots'] !== undefined ? limitRoots(answer, allowed) : answer;
  const entries = Object.entries(inputResponses).map(([key, answer]) => [key, limited(answer)] as const);
  return { inputResponses: Object.fromEntries(entries) };
}
