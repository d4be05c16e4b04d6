// Whether a rule's own conditions hold for one request: guards on arguments, hints of the accepted tool definition.
// Three answers, because a request for a whole pattern, or for a tool nobody has pinned yet, leaves hints open.
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Capability } from './capability.ts';
import { effectiveHints, type Effect, type HintCondition, type HintName, type Rule } from './document.ts';
import { guardTest, type Guard } from './guard.ts';

/** `maybe`: for some of what the request stands for, or nobody can tell. */
export type Holds = 'yes' | 'maybe' | 'no';

export interface Circumstances {
  readonly args?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

export type Condition = (capability: Capability, circumstances: Circumstances) => Holds;

/** `undefined` when the rule has no condition: it always holds. Compiles the patterns of its guard once. */
export function conditionOf({ effect, guard, hints }: Pick<Rule, 'effect' | 'guard' | 'hints'>): Condition | undefined {
  const guarded = guard && guardCondition(effect, guard);
  const hinted = hints && hintCondition(hints);
  if (guarded === undefined) return hinted;
  if (hinted === undefined) return guarded;
  return (capability, circumstances) => {
    const first = guarded(capability, circumstances);
    if (first === 'no') return 'no';
    const second = hinted(capability, circumstances);
    return second === 'yes' ? first : second;
  };
}

/**
 * Every named argument must be there and match. Without arguments an allow or ask rule carries its guard along; a deny waits for the
 * arguments, which every call under a grant brings (DESIGN invariant 2): it is about values, and there are none yet.
 */
function guardCondition(effect: Effect, guard: Guard): Condition {
  const holds = guardTest(guard);
  return (_capability, { args }) => {
    if (args === undefined) return effect === 'deny' ? 'no' : 'yes';
    return holds(args) ? 'yes' : 'no';
  };
}

/** About `<upstream>:call:<tool>` only: nothing else has a tool definition. */
function hintCondition(hints: HintCondition): Condition {
  const wanted = Object.entries(hints) as [HintName, boolean][];
  return (capability, { annotations }) => {
    const action = capability.action[0]?.text;
    if (action !== 'call' && action !== '*') return 'no';
    if (!capability.literal || annotations === undefined) return 'maybe';
    const actual = effectiveHints(annotations);
    return wanted.every(([name, value]) => actual[name] === value) ? 'yes' : 'no';
  };
}

/** `one` holds in every circumstance in which `other` holds: its conditions are some of the other's. */
export function holdsWhenever(one: Pick<Rule, 'guard' | 'hints'>, other: Pick<Rule, 'guard' | 'hints'>): boolean {
  const within = (some: object | undefined, all: object | undefined): boolean =>
    Object.entries(some ?? {}).every(
      ([name, value]) => all !== undefined && Object.hasOwn(all, name) && (all as Record<string, unknown>)[name] === value,
    );
  return within(one.guard, other.guard) && within(one.hints, other.hints);
}
