// Who a request without a session is from: its agent, the endpoint it came to, and what its client says it can do. Nothing else tells the
// clients of an agent apart.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ToolScope } from '../../kernel/dispatch.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';

/**
 * What an upstream keeps for a client that can be asked things is not used for one that cannot, so clients that declare different
 * capabilities are different callers. The mark is no secret and no proof: both are of one agent.
 */
export function callerOf(agent: string, scope: ToolScope, capabilities?: JsonObject): AgentCaller {
  return { kind: 'agent', agent, session: `stateless:${agent}${placeOf(scope)}${markOf(capabilities)}`, sessionless: true };
}

function placeOf(scope: ToolScope): string {
  if (scope.kind === 'all') return '';
  return scope.kind === 'toolset' ? `:${scope.toolset}` : `:upstreams:${scope.upstream}`;
}

function markOf(capabilities: JsonObject | undefined): string {
  if (capabilities === undefined || isEmpty(capabilities)) return '';
  const text = canonicalJson(capabilities);
  return `:can-${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}`;
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** FNV-1a, 32 bits, from a basis of its own each. */
function hash(text: string, basis: number): string {
  let sum = basis;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}
