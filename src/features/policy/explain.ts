// Why a capability is decided as it is: every deny and rule that touches it, which one decides, and where its ttl comes from.
// Uses the decision's own parts, so that an explanation cannot differ from the decision.
import type { Circumstances, Condition } from './conditions.ts';
import { weigh, type Engine } from './decide.ts';
import { ruleText } from './document.ts';
import type { PolicyRequest, Verdict } from './model.ts';
import type { AgentPolicy, Reach } from './reach.ts';
import { formatTtl } from './ttl.ts';

export interface Explanation {
  readonly verdict: Verdict;
  /** The section whose rules count. */
  readonly section: string | null;
  readonly denies: readonly {
    readonly deny: string;
    readonly from: string;
    readonly line: number;
    readonly bites: boolean;
  }[];
  /** In their order, the built-in ones last. */
  readonly rules: readonly {
    readonly rule: string;
    readonly effect: 'allow' | 'ask';
    /** 0 for a built-in rule. */
    readonly line: number;
    readonly built_in: boolean;
    readonly reach: 'all of it' | 'a part of it';
    readonly condition: 'none' | 'holds' | 'may hold' | 'fails';
    readonly decides: boolean;
    /** It came with `inherit:`. */
    readonly inherited?: true;
  }[];
  /** Everything the ttl is the least of. */
  readonly ttl: readonly { readonly from: string; readonly value: string }[];
}

const conditionWords = { yes: 'holds', maybe: 'may hold', no: 'fails' } as const;

export function explain(engine: Engine, request: PolicyRequest): Explanation {
  const policy = engine.agent(request.agent);
  const verdict = engine.decide(request);
  const section = policy.section?.id ?? null;
  if (verdict.effect === 'deny' && verdict.code === 'invalid_capability')
    return { verdict, section, denies: [], rules: [], ttl: [] };
  const reach = policy.reach(request.capability);
  const { covering, asking } = weigh(reach, request);
  const decider = verdict.effect === 'deny' ? undefined : (asking ?? covering[0]);
  const held = (condition: Condition | undefined) => condition?.(reach.capability, request);
  return {
    verdict,
    section,
    denies: reach.denies.map(({ match, section: from, line, condition }) => ({
      deny: match,
      from: from === undefined ? 'global limits' : `section '${from}'`,
      line,
      bites: held(condition) !== 'no',
    })),
    rules: reach.touches.map(({ rule, whole }) => {
      const holds = held(rule.condition);
      return {
        rule: ruleText(rule.rule),
        effect: rule.effect,
        line: rule.rule.place.line,
        built_in: rule.builtIn,
        reach: whole ? 'all of it' : 'a part of it',
        condition: holds === undefined ? 'none' : conditionWords[holds],
        decides: rule === decider,
        ...(rule.inherited && { inherited: true as const }),
      };
    }),
    ttl: verdict.effect === 'deny' ? [] : ceilings(policy, reach, request),
  };
}

function ceilings(policy: AgentPolicy, reach: Reach, request: PolicyRequest & Circumstances): { from: string; value: string }[] {
  const { covering } = weigh(reach, request);
  const [decider] = covering;
  const { requestedTtl, requestedTtlMs } = request;
  const standard = policy.section?.defaultTtlMs === undefined ? 'built-in default' : 'default_ttl';
  return [
    ...(requestedTtl === undefined ? [] : [{ from: 'requested', value: requestedTtl }]),
    ...(requestedTtlMs === undefined ? [] : [{ from: 'requested', value: formatTtl(requestedTtlMs) }]),
    ...reach.touches.flatMap(({ rule }) => {
      const { ttlMs } = rule.rule;
      if (ttlMs === undefined || rule.condition?.(reach.capability, request) === 'no') return [];
      return [{ from: `rule '${ruleText(rule.rule)}'`, value: formatTtl(ttlMs) }];
    }),
    ...(decider?.rule.ttlMs === undefined ? [{ from: standard, value: formatTtl(policy.defaultTtlMs) }] : []),
    ...(policy.limits.maxTtlMs === undefined ? [] : [{ from: 'max_ttl', value: formatTtl(policy.limits.maxTtlMs) }]),
  ];
}
