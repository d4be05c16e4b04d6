// Every operation there is, in one list: the daemon builds it with real parts; help, reference pages and the golden catalog build
// it with none, because what an operation declares is plain data and only running it touches a part.
import type { Operation } from '../kernel/operation.ts';
import { agentOperations } from '../features/agents/operations.ts';
import { approvalOperations } from '../features/approvals/operations.ts';
import { authOperations } from '../features/auth/operations.ts';
import { auditOperations } from '../features/audit/operations.ts';
import { defenceOperations } from '../features/defences/operations.ts';
import { fleetOperations } from '../features/fleet/operations.ts';
import { gatewayOperations } from '../features/gateway/operations.ts';
import { gitOperations } from '../features/git/operations.ts';
import { grantOperations } from '../features/grants/operations.ts';
import { registryOperations } from '../features/registry/operations.ts';
import { operatorOperations } from '../features/operator/operations.ts';
import { placementOperations } from '../features/placements/operations.ts';
import { policyOperations } from '../features/policy/operations.ts';
import { vaultOperations } from '../features/vault/operations.ts';

/** What the operations of each slice need. */
export interface OperationParts {
  readonly operator: Parameters<typeof operatorOperations>[0];
  readonly vault: Parameters<typeof vaultOperations>[0];
  readonly auth: Parameters<typeof authOperations>[0];
  readonly agents: Parameters<typeof agentOperations>[0];
  readonly defences: Parameters<typeof defenceOperations>[0];
  readonly placements: Parameters<typeof placementOperations>[0];
  readonly git: Parameters<typeof gitOperations>[0];
  readonly fleet: Parameters<typeof fleetOperations>[0];
  readonly registry: Parameters<typeof registryOperations>[0];
  readonly policy: Parameters<typeof policyOperations>[0];
  readonly grants: Parameters<typeof grantOperations>[0];
  readonly approvals: Parameters<typeof approvalOperations>[0];
  readonly audit: Parameters<typeof auditOperations>[0];
  readonly gateway: Parameters<typeof gatewayOperations>[0];
}

/** In the order of a person's day: what waits, who is there, what is reached, what is allowed, what happened. */
export function allOperations(parts: OperationParts): Operation[] {
  return [
    ...approvalOperations(parts.approvals),
    ...agentOperations(parts.agents),
    ...fleetOperations(parts.fleet),
    ...registryOperations(parts.registry),
    ...vaultOperations(parts.vault),
    ...authOperations(parts.auth),
    ...placementOperations(parts.placements),
    ...gitOperations(parts.git),
    ...defenceOperations(parts.defences),
    ...policyOperations(parts.policy),
    ...grantOperations(parts.grants),
    ...auditOperations(parts.audit),
    ...operatorOperations(parts.operator),
    ...gatewayOperations(parts.gateway),
  ];
}

/** The same list with nothing behind it. Running one throws. */
export function declaredOperations(): Operation[] {
  return allOperations(absentPart('operation') as OperationParts);
}

/** May be passed on and taken apart, as a declaration does with its parts; using it for anything is a mistake that says so. */
function absentPart(path: string): unknown {
  return new Proxy(() => undefined, {
    get: (_, name) => (typeof name === 'symbol' ? undefined : absentPart(`${path}.${name}`)),
    apply() {
      throw new Error(`${path} was used while operations are only declared`);
    },
  });
}
