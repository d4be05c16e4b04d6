// Whether a policy is provably never wider than another: for any agent, capability, arguments and hints it decides no more, for no
// longer, with nothing less redacted. Compares structure and is conservative: what it cannot prove counts as wider (DESIGN invariant 4).
import { covers, meets, type Pattern } from './capability.ts';
import { holdsWhenever } from './conditions.ts';
import { ruleText, type Deny, type PolicyFile, type Rule, type Section } from './document.ts';
import { defaults } from './limits.ts';
import { builtIns } from './reach.ts';
import { sectionPairs } from './section-pairs.ts';
import { formatTtl } from './ttl.ts';
import { widerLimits } from './widening-limits.ts';
import { wildcard, wildcardCovers, wildcardsMeet, type Wildcard } from './wildcard.ts';

export type Comparison =
  | { readonly narrower: true }
  /** Each line says what may be wider, for a person to read. */
  | { readonly narrower: false; readonly changes: readonly string[] };

export function provablyNarrower(before: PolicyFile, after: PolicyFile): Comparison {
  const changes = new Set([...widerLimits(before, after), ...lostDenies(before, after)]);
  for (const { before: old, after: next } of sectionPairs(before, after)) {
    if (old === undefined) changes.add(`section '${next.id}': agents that had no section get one`);
    else for (const line of widerRules(old, next, after)) changes.add(`section '${next.id}': ${line}`);
  }
  return changes.size === 0 ? { narrower: true } : { narrower: false, changes: [...changes] };
}

interface Scoped {
  readonly agents: Wildcard;
  readonly pattern: Pattern;
  readonly rule: Pick<Rule, 'guard' | 'hints'>;
  readonly text: string;
}

const everyone = wildcard('*');
const always = { guard: undefined, hints: undefined };

function scopedDenies(file: PolicyFile): Scoped[] {
  const limit = (agents: Wildcard) => (deny: Deny) => ({ agents, pattern: deny.pattern, rule: always, text: deny.pattern.text });
  return [
    ...file.limits.deny.map(limit(everyone)),
    ...file.sections.flatMap(({ agents, limits, rules }) => [
      ...limits.deny.map(limit(agents)),
      ...denying(rules).map((rule) => ({ agents, pattern: rule.pattern, rule, text: ruleText(rule) })),
    ]),
  ];
}

const denying = (rules: readonly Rule[]): readonly Rule[] => rules.filter(({ effect }) => effect === 'deny');

/** Every old deny must still be there for everybody it was there for, except where nobody has a section any more. */
function lostDenies(before: PolicyFile, after: PolicyFile): string[] {
  const kept = scopedDenies(after);
  return scopedDenies(before)
    .filter(({ agents }) => after.sections.some((section) => wildcardsMeet(section.agents, agents)))
    .filter(
      (old) =>
        !kept.some(
          (deny) =>
            wildcardCovers(deny.agents, old.agents.text) && covers(deny.pattern, old.pattern) && holdsWhenever(deny.rule, old.rule),
        ),
    )
    .map(({ text, agents }) => `agents '${agents.text}': '${text}' is no longer denied`);
}

interface Side {
  readonly rules: readonly Rule[];
  readonly defaultMs: number;
}

const sideOf = ({ rules, defaultTtlMs }: Section): Side => ({
  rules: [...rules.filter(({ effect }) => effect !== 'deny'), ...builtIns],
  defaultMs: defaultTtlMs ?? defaults.ttlMs,
});

function widerRules(beforeSection: Section, afterSection: Section, file: PolicyFile): string[] {
  const [old, next] = [sideOf(beforeSection), sideOf(afterSection)];
  const maxMs = Math.min(file.limits.maxTtlMs ?? Infinity, afterSection.limits.maxTtlMs ?? Infinity);
  /** Denies without a guard block whatever the arguments are, also when there are none yet. */
  const blocking = [
    ...[...file.limits.deny, ...afterSection.limits.deny].map(({ pattern }) => ({ pattern, ...always })),
    ...denying(afterSection.rules).filter(({ guard }) => guard === undefined),
  ];
  const blocked = (rule: Rule): boolean => blocking.some((deny) => covers(deny.pattern, rule.pattern) && holdsWhenever(deny, rule));

  return [
    ...next.rules
      .filter((rule, index) => !permittedBefore(rule, index))
      .map((rule) => `'${ruleText(rule)}' may now ${rule.effect} more, or for longer`),
    ...old.rules.flatMap(lostCeilings),
  ];

  /** Some old rule let all of it pass at least as freely, and nothing that stood before that rule is gone. */
  function permittedBefore(rule: Rule, index: number): boolean {
    // The first such rule is the best: a later one has all that stands before this one before it, and this one too.
    const base = old.rules.findIndex(
      ({ pattern, ...conditions }) => covers(pattern, rule.pattern) && holdsWhenever(conditions, rule),
    );
    if (base < 0) return false;
    const earlier = old.rules.slice(0, base + 1).filter(({ pattern }) => meets(pattern, rule.pattern));
    const asks = rule.effect === 'allow' ? earlier.filter(({ effect }) => effect === 'ask') : [];
    const longer = Math.min(rule.ttlMs ?? next.defaultMs, maxMs) > old.defaultMs;
    const decidedByDefault = longer ? earlier.filter(({ ttlMs }) => ttlMs === undefined) : [];
    return (
      asks.every((ask) => blocked(ask) || standsBefore(index, ask, ({ effect }) => effect === 'ask')) &&
      decidedByDefault.every((other) => blocked(other) || standsBefore(index, other, () => true))
    );
  }

  function standsBefore(index: number, old: Rule, fits: (rule: Rule) => boolean): boolean {
    return next.rules.slice(0, index).some((rule) => fits(rule) && covers(rule.pattern, old.pattern) && holdsWhenever(rule, old));
  }

  /** Ceilings and redactions of an old rule count wherever it touches, so they must survive wherever anything still passes. */
  function lostCeilings(rule: Rule): string[] {
    if (blocked(rule) || !next.rules.some(({ pattern }) => meets(pattern, rule.pattern))) return [];
    const heirs = next.rules.filter((heir) => covers(heir.pattern, rule.pattern) && holdsWhenever(heir, rule));
    const { ttlMs } = rule;
    const lines: string[] = [];
    if (ttlMs !== undefined && maxMs > ttlMs && !heirs.some((heir) => (heir.ttlMs ?? Infinity) <= ttlMs)) {
      lines.push(`'${ruleText(rule)}' no longer ends after ${formatTtl(ttlMs)}`);
    }
    for (const category of rule.redact) {
      if (!heirs.some(({ redact }) => redact.includes(category))) lines.push(`'${ruleText(rule)}' no longer redacts ${category}`);
    }
    return lines;
  }
}
