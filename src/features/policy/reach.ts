// What of one agent's policy touches a capability at all, found once per capability and remembered. Everything here depends on the
// text and the capability only; arguments and hints are for decide.ts.
import { covers, meets, parseCapability, type Capability, type Pattern } from './capability.ts';
import { conditionOf, type Condition } from './conditions.ts';
import { ownPart, ruleText, type Effect, type PolicyFile, type Rule, type Section } from './document.ts';
import { defaults, limitsOf } from './limits.ts';
import type { Limits, Verdict } from './model.ts';
import { parsePattern } from './pattern.ts';
import { sectionsFor } from './sections.ts';

/** Capabilities remembered per agent; the oldest goes first. */
const remembered = 2_048;

export interface CompiledRule {
  /** As written in the file, without its conditions. */
  readonly match: string;
  readonly pattern: Pattern;
  readonly effect: Exclude<Effect, 'deny'>;
  readonly rule: Rule;
  readonly condition: Condition | undefined;
  readonly builtIn: boolean;
  /** From the section that its section inherits from. */
  readonly inherited: boolean;
}

export interface CompiledDeny {
  readonly match: string;
  readonly pattern: Pattern;
  /** The section it stands in; `undefined` = the global limits. */
  readonly section: string | undefined;
  readonly line: number;
  readonly condition: Condition | undefined;
}

export interface Touch {
  readonly rule: CompiledRule;
  /** Covers the whole capability, conditions aside; otherwise it meets a part of it. */
  readonly whole: boolean;
}

export interface Reach {
  readonly capability: Capability;
  readonly denies: readonly CompiledDeny[];
  readonly touches: readonly Touch[];
  /** Filled by decide.ts when no condition is involved: the verdict is then the same for every call. */
  settled: Verdict | undefined;
}

export interface AgentPolicy {
  readonly agent: string;
  /** The section whose rules count. */
  readonly section: Section | undefined;
  readonly limits: Limits;
  readonly defaultTtlMs: number;
  readonly rules: readonly CompiledRule[];
  readonly denies: readonly CompiledDeny[];
  /** Throws `policy.bad_capability`. */
  reach(capability: string): Reach;
}

/** The last rules of every section: a secret or an upstream never passes on a policy that does not mention it. */
export const builtIns: readonly Rule[] = ['vault:inject:*', 'sallyport:register:*'].map((match) => ({
  pattern: parsePattern(match),
  effect: 'ask',
  ttlMs: undefined,
  redact: [],
  guard: undefined,
  hints: undefined,
  place: { line: 0, column: 0 },
}));

export function compileAgent(file: PolicyFile, agent: string): AgentPolicy {
  const sections = sectionsFor(file, agent);
  const [section] = sections;
  const rules = section === undefined ? [] : compileRules(section);
  const denies = compileDenies(file, sections);
  const near = { rules: byUpstream(rules), denies: byUpstream(denies) };
  const memo = new Map<string, Reach>();

  function find(text: string): Reach {
    const capability = parseCapability(text);
    const touches = near.rules(capability).flatMap((rule): Touch[] => {
      if (covers(rule.pattern, capability)) return [{ rule, whole: true }];
      return !capability.literal && meets(rule.pattern, capability) ? [{ rule, whole: false }] : [];
    });
    return {
      capability,
      denies: near.denies(capability).filter(({ pattern }) => meets(pattern, capability)),
      touches,
      settled: undefined,
    };
  }

  return {
    agent,
    section,
    limits: limitsOf(file, sections),
    defaultTtlMs: section?.defaultTtlMs ?? defaults.ttlMs,
    rules,
    denies,
    reach(text) {
      const known = memo.get(text);
      if (known !== undefined) return known;
      const found = find(text);
      const oldest = memo.size < remembered ? undefined : memo.keys().next().value;
      if (oldest !== undefined) memo.delete(oldest);
      memo.set(text, found);
      return found;
    },
  };
}

function compileRules(section: Section): readonly CompiledRule[] {
  const own = ownPart(section).rules.length;
  const compile = (rule: Rule, at: number): CompiledRule[] => {
    const { effect, pattern } = rule;
    if (effect === 'deny') return [];
    const builtIn = at >= section.rules.length;
    const condition = conditionOf(rule);
    return [{ match: pattern.text, pattern, effect, rule, condition, builtIn, inherited: !builtIn && at >= own }];
  };
  return [...section.rules, ...builtIns].flatMap(compile);
}

/** `limits.deny` and `effect: deny` are the same thing, and those of all matching sections count. */
function compileDenies(file: PolicyFile, sections: readonly Section[]): CompiledDeny[] {
  const limit = (section: string | undefined) => (deny: { pattern: Pattern; place: { line: number } }) => ({
    match: deny.pattern.text,
    pattern: deny.pattern,
    section,
    line: deny.place.line,
    condition: undefined,
  });
  return [
    ...file.limits.deny.map(limit(undefined)),
    ...sections.flatMap(({ id, limits, rules }) => [
      ...limits.deny.map(limit(id)),
      ...rules
        .filter(({ effect }) => effect === 'deny')
        .map((rule) => ({
          match: ruleText(rule),
          pattern: rule.pattern,
          section: id,
          line: rule.place.line,
          condition: conditionOf(rule),
        })),
    ]),
  ];
}

/** For a capability of a named upstream only the entries that can name it, in their order; found at its first use. */
function byUpstream<T extends { readonly pattern: Pattern }>(entries: readonly T[]): (capability: Capability) => readonly T[] {
  const names = new Set(entries.flatMap(({ pattern }) => pattern.upstream.filter(isName).map(({ text }) => text)));
  const open = entries.filter(({ pattern }) => !pattern.upstream.every(isName));
  const named = new Map<string, readonly T[]>();
  return ({ upstream: [part] }) => {
    if (part === undefined || !isName(part)) return entries;
    if (!names.has(part.text)) return open;
    let near = named.get(part.text);
    if (near === undefined) {
      near = entries.filter(({ pattern }) => pattern.upstream.some((name) => !isName(name) || name.text === part.text));
      named.set(part.text, near);
    }
    return near;
  };
}

const isName = ({ chunks }: { readonly chunks: readonly string[] }): boolean => chunks.length === 1;
