// Whether the limits of a policy are at least as tight as those of another, for every agent. Knows nothing of rules.
import type { PolicyFile, StatedLimits } from './document.ts';
import { defaults } from './limits.ts';
import { formatTtl, rateWithin, type Rate } from './ttl.ts';
import { wildcard, wildcardCovers, wildcardsMeet, type Wildcard } from './wildcard.ts';

interface Kind<T> {
  readonly key: string;
  readonly pick: (limits: StatedLimits) => T | undefined;
  readonly within: (value: T, bound: T) => boolean;
  /** What holds where nothing is stated; `undefined` = no bound. */
  readonly default: T | undefined;
  readonly text: (value: T) => string;
}

const atMost = (value: number, bound: number): boolean => value <= bound;
const duration = (key: string, pick: Kind<number>['pick'], standard: number | undefined): Kind<number> => ({
  key,
  pick,
  within: atMost,
  default: standard,
  text: formatTtl,
});

const rate: Kind<Rate> = {
  key: 'rate_limit',
  pick: (limits) => limits.rate,
  within: rateWithin,
  default: defaults.rate,
  text: ({ text }) => text,
};

const durations: readonly Kind<number>[] = [
  duration('max_ttl', ({ maxTtlMs }) => maxTtlMs, undefined),
  duration('approval_ttl', ({ approvalTtlMs }) => approvalTtlMs, defaults.approvalTtlMs),
  duration('max_lease_total', ({ maxLeaseTotalMs }) => maxLeaseTotalMs, defaults.maxLeaseTotalMs),
  { ...duration('max_inline_bytes', ({ maxInlineBytes }) => maxInlineBytes, defaults.maxInlineBytes), text: String },
];

export function widerLimits(before: PolicyFile, after: PolicyFile): string[] {
  return [...durations.flatMap((kind) => wider(kind, before, after)), ...wider(rate, before, after)];
}

function wider<T>(kind: Kind<T>, before: PolicyFile, after: PolicyFile): string[] {
  const [olds, nexts] = [statedIn(kind, before), statedIn(kind, after)];
  const inhabited = (agents: Wildcard): boolean => after.sections.some((section) => wildcardsMeet(section.agents, agents));
  const standard = kind.default;
  const backToDefault = (old: { agents: Wildcard; value: T }): boolean =>
    standard !== undefined && kind.within(standard, old.value) && !nexts.some(({ agents }) => wildcardsMeet(agents, old.agents));
  const lost = olds
    .filter((old) => inhabited(old.agents) && !backToDefault(old))
    .filter((old) => !nexts.some((next) => wildcardCovers(next.agents, old.agents.text) && kind.within(next.value, old.value)))
    .map(({ agents, value }) => `agents '${agents.text}': ${kind.key} is no longer at most ${kind.text(value)}`);
  // A stated value replaces the default, so the first one stated may raise it.
  const raised = nexts
    .filter(({ value }) => standard !== undefined && !kind.within(value, standard))
    .filter((next) => !olds.some((old) => wildcardCovers(old.agents, next.agents.text)))
    .map(({ agents, value }) => `agents '${agents.text}': ${kind.key} rises to ${kind.text(value)}`);
  return [...lost, ...raised];
}

function statedIn<T>(kind: Kind<T>, { limits, sections }: PolicyFile): { agents: Wildcard; value: T }[] {
  return [{ agents: wildcard('*'), limits }, ...sections].flatMap(({ agents, limits: stated }) => {
    const value = kind.pick(stated);
    return value === undefined ? [] : [{ agents, value }];
  });
}
