// The answer of scopegate_policy_summary (gate contract): what an agent plans its work with. Conditions stand in brackets behind a
// match, so that a conditional rule never reads as an unconditional one.
import { ruleText, type Rule } from './document.ts';
import type { Limits, PolicyDigest } from './model.ts';
import type { AgentPolicy } from './reach.ts';
import { formatTtl } from './ttl.ts';

export function digestOf({ agent, section, limits, defaultTtlMs, denies, rules }: AgentPolicy): PolicyDigest {
  const matches = (effect: Rule['effect']): string[] =>
    unique(rules.filter((rule) => rule.effect === effect && !rule.builtIn).map(({ rule }) => ruleText(rule)));
  return {
    agentId: agent,
    agent_found: section !== undefined,
    ...(section === undefined ? {} : { default_ttl: formatTtl(defaultTtlMs) }),
    auto_approve: matches('allow'),
    requires_approval: matches('ask'),
    deny_globs: unique(denies.map(({ match }) => match)),
    ...limitTexts(limits),
    team: null,
  };
}

/** While nothing is in force. */
export function emptyDigest(agent: string, limits: Limits): PolicyDigest {
  return {
    agentId: agent,
    agent_found: false,
    auto_approve: [],
    requires_approval: [],
    deny_globs: ['*:*:*'],
    ...limitTexts(limits),
    team: null,
  };
}

const limitTexts = ({ maxTtlMs, approvalTtlMs, rate }: Limits) => ({
  ...(maxTtlMs === undefined ? {} : { max_ttl: formatTtl(maxTtlMs) }),
  approval_ttl: formatTtl(approvalTtlMs),
  rate_limit: rate.text,
});

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
