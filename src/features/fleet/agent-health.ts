// Live health as one agent may see it: only upstreams it can reach. Measures nothing itself.
import type { OperationContext } from '../../kernel/operation.ts';
import type { MemberHealth } from './upstream-status.ts';
import type { FleetOperationDeps } from './operation-deps.ts';

export async function healthFor(
  { fleet, reachable }: FleetOperationDeps,
  { caller, signal }: OperationContext,
): Promise<readonly (readonly [string, MemberHealth])[]> {
  const health = Object.entries(await fleet.diagnose(signal));
  return caller.kind === 'agent' ? health.filter(([upstream]) => reachable(caller.agent, upstream)) : health;
}
