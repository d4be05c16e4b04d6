// The decision (DESIGN invariants 1 and 2): a deny that meets any part beats everything; then the first rule that covers the whole
// decides, unless an earlier rule asks a person about some part of it; no rule means no. Pure: the same question, the same answer.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { Circumstances, Holds } from './conditions.ts';
import type { PolicyFile } from './document.ts';
import type { DenyCode, Guard, PolicyRequest, RedactCategory, Verdict } from './model.ts';
import { redactCategories } from './model.ts';
import { compileAgent, type AgentPolicy, type CompiledRule, type Reach } from './reach.ts';
import { parseTtl } from './ttl.ts';

/** Compiled agents kept; asking about made-up names must not fill the memory. */
const keptAgents = 1_024;

export interface Engine {
  decide(request: PolicyRequest): Verdict;
  agent(name: string): AgentPolicy;
}

export function createEngine(file: PolicyFile): Engine {
  const compiled = new Map<string, AgentPolicy>();

  function agent(name: string): AgentPolicy {
    const known = compiled.get(name);
    if (known !== undefined) return known;
    const fresh = compileAgent(file, name);
    const oldest = compiled.size < keptAgents ? undefined : compiled.keys().next().value;
    if (oldest !== undefined) compiled.delete(oldest);
    compiled.set(name, fresh);
    return fresh;
  }

  return {
    agent,
    decide(request) {
      const policy = agent(request.agent);
      let reach: Reach;
      try {
        reach = policy.reach(request.capability);
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        return refuse('invalid_capability', `${thrown.message} ${thrown.hint ?? ''}`.trimEnd());
      }
      if (request.args !== undefined && !reach.capability.literal) {
        return refuse('invalid_capability', `'${reach.capability.text}' is a pattern; a call names one thing.`);
      }
      reach.settled ??= unconditional(reach) ? judge(policy, reach, {}) : undefined;
      return bounded(reach.settled ?? judge(policy, reach, request), request);
    },
  };
}

const unconditional = ({ denies, touches }: Reach): boolean =>
  denies.every(({ condition }) => condition === undefined) && touches.every(({ rule }) => rule.condition === undefined);

const refuse = (code: DenyCode, reason: string): Verdict => ({ effect: 'deny', code, hard: false, reason });

/** The verdict before the ttl that was asked for is looked at. */
function judge(policy: AgentPolicy, reach: Reach, circumstances: Circumstances): Verdict {
  const { text } = reach.capability;
  const blocking = reach.denies.find(({ condition }) => condition?.(reach.capability, circumstances) !== 'no');
  if (blocking !== undefined) {
    const reason = `Capability '${text}' is blocked by the hard limit '${blocking.match}'.`;
    return { effect: 'deny', code: 'ceiling_blocked', hard: true, reason, rule: blocking.match };
  }
  if (policy.section === undefined) return refuse('no_policy', `No policy section matches agent '${policy.agent}'.`);

  const { covering, asking, ttlMs } = weigh(reach, circumstances);
  const [decider] = covering;
  if (decider === undefined) return refuse('no_rule', `No auto_approve rule matches '${text}' for agent '${policy.agent}'.`);
  const bound = {
    ttlMs: Math.min(ttlMs, decider.rule.ttlMs ?? policy.defaultTtlMs, policy.limits.maxTtlMs ?? Infinity),
    redact: unionOf(covering),
    guards:
      circumstances.args === undefined
        ? covering.flatMap(({ rule }): Guard[] => (rule.guard === undefined ? [] : [rule.guard]))
        : [],
  };
  if (asking === undefined) {
    return { effect: 'allow', rule: decider.match, ...bound, reason: `Auto-approved by rule '${decider.match}'.` };
  }
  const reason = `Capability '${text}' matches '${asking.match}' which requires human approval.`;
  return { effect: 'ask', rule: asking.match, ...bound, reason };
}

export interface Weighed {
  /** In order; the first decides. */
  readonly covering: readonly CompiledRule[];
  /** The rule that makes the whole ask: an earlier one about a part of it, or the deciding one. */
  readonly asking: CompiledRule | undefined;
  /** The lowest ceiling stated by any rule about any part. */
  readonly ttlMs: number;
}

export function weigh({ capability, touches }: Reach, circumstances: Circumstances): Weighed {
  const covering: CompiledRule[] = [];
  let asking: CompiledRule | undefined;
  let ttlMs = Infinity;
  for (const { rule, whole } of touches) {
    const holds: Holds = rule.condition?.(capability, circumstances) ?? 'yes';
    if (holds === 'no') continue;
    ttlMs = Math.min(ttlMs, rule.rule.ttlMs ?? Infinity);
    if (covering.length === 0 && rule.effect === 'ask') asking ??= rule;
    if (whole && holds === 'yes') covering.push(rule);
  }
  return { covering, asking, ttlMs };
}

function unionOf(rules: readonly CompiledRule[]): readonly RedactCategory[] {
  const all = new Set(rules.flatMap(({ rule }) => rule.redact));
  return redactCategories.filter((category) => all.has(category));
}

/** The ttl that was asked for only shortens; one that is none is refused, never replaced. */
function bounded(verdict: Verdict, { requestedTtl, requestedTtlMs }: PolicyRequest): Verdict {
  if (requestedTtl === undefined && requestedTtlMs === undefined) return verdict;
  if (verdict.effect === 'deny' && verdict.code !== 'no_rule') return verdict;
  let askedMs = requestedTtlMs ?? Infinity;
  try {
    if (requestedTtl !== undefined) askedMs = Math.min(askedMs, parseTtl(requestedTtl));
  } catch (thrown) {
    return refuse('invalid_ttl', asAppError(thrown).message);
  }
  if (!(askedMs > 0)) return refuse('invalid_ttl', `Invalid ttl of ${askedMs} ms — it must be more than zero.`);
  return verdict.effect === 'deny' || askedMs >= verdict.ttlMs ? verdict : { ...verdict, ttlMs: askedMs };
}
