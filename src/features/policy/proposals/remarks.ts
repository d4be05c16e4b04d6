// What there is to say of a proposed rule before a person reads it: what it collides with, what it would end, how wide it is.
// Says it to agents too, so it names rules and limits, which they may know, and no lines of the file.
import { covers, meets } from '../capability.ts';
import type { AgentPolicy } from '../reach.ts';
import type { NewRule } from '../rule-insertion.ts';
import { formatTtl } from '../ttl.ts';

export interface Remarks {
  /** The gate contract's `conflicts_with_limits`, in words; a part that is denied or cut stays so, whatever is accepted. */
  readonly conflict: string | undefined;
  readonly others: readonly string[];
}

/** Denies named one by one; the rest is counted. */
const mostNamed = 3;

export function remarksOn({ limits, denies, rules }: AgentPolicy, rule: NewRule): Remarks {
  const { pattern, ttlMs } = rule;
  const meeting = denies.filter((deny) => meets(deny.pattern, pattern));
  const blocked = meeting.slice(0, mostNamed).map(({ match, pattern: deny, condition }) => {
    const whole = condition === undefined && covers(deny, pattern);
    return `${whole ? 'All' : 'A part'} of it is blocked by the hard limit '${match}'.`;
  });
  const more = meeting.length > mostNamed ? [`${meeting.length - mostNamed} more hard limits meet it.`] : [];
  const { maxTtlMs } = limits;
  const cut =
    ttlMs !== undefined && maxTtlMs !== undefined && ttlMs > maxTtlMs
      ? [`Its ttl ${formatTtl(ttlMs)} is longer than max_ttl ${formatTtl(maxTtlMs)} and would be cut to that.`]
      : [];
  const conflict = [...blocked, ...more, ...cut].join(' ');
  return { conflict: conflict === '' ? undefined : conflict, others: [...standing(rules, rule), ...width(rule)] };
}

/** How the rules there are decide about it now. */
function standing(rules: AgentPolicy['rules'], { pattern }: NewRule): string[] {
  const decider = rules.findIndex((rule) => rule.condition === undefined && covers(rule.pattern, pattern));
  const before = decider < 0 ? rules : rules.slice(0, decider + 1);
  const asking = before.filter(({ effect, pattern: asked }) => effect === 'ask' && meets(asked, pattern));
  const first = asking.find(({ builtIn }) => !builtIn);
  const builtIn = asking.find((rule) => rule.builtIn);
  const allowed = asking.length === 0 ? rules[decider] : undefined;
  return [
    ...(allowed === undefined ? [] : [`Nothing new: '${allowed.match}' allows all of it already.`]),
    ...(first === undefined ? [] : [`A person is asked about some of it now ('${first.match}'); accepting ends that.`]),
    ...(builtIn === undefined ? [] : [`It also allows '${builtIn.match}', about which a person is asked by default.`]),
  ];
}

function width({ pattern: { upstream, action, resource } }: NewRule): string[] {
  const any = (part: readonly { readonly text: string }[]): boolean => part.some(({ text }) => text === '*');
  if (any(upstream)) return ['Wide: it is about every upstream.'];
  if (any(action)) return ['Wide: it is about everything an upstream can do.'];
  return any(resource) ? ['Wide: it is about every resource of that kind.'] : [];
}
