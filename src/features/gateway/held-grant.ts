// What of an agent's grants counts for a verdict. Knows no rule and issues nothing.
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Grants } from '../grants/grants.ts';
import type { Grant } from '../grants/model.ts';
import { guardTest, type Guard, type Verdict } from '../policy/model.ts';

/**
 * The live grant that meets the verdict. Where a person has to agree, only a grant a person gave, and only for what that person was
 * shown: with `args` (a call) all its guards must hold for them; without (a request) it may have no guard that would not be asked for.
 */
export function heldGrant(
  grants: Grants,
  agent: string,
  capability: string,
  verdict: Exclude<Verdict, { effect: 'deny' }>,
  args?: JsonObject,
): Grant | undefined {
  if (verdict.effect === 'allow') return grants.covering(agent, capability, 'any');
  const asked = (guard: Guard): boolean => verdict.guards.some((other) => canonicalJson(other) === canonicalJson(guard));
  const holds = (guard: Guard): boolean => (args === undefined ? asked(guard) : guardTest(guard)(args));
  return grants.covering(agent, capability, 'human', ({ guards = [] }) => guards.every(holds));
}
