// What the agents slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { AgentRegistry } from './agents.ts';
import { addOperation } from './operations/add.ts';
import { listOperation } from './operations/list.ts';
import { removeOperation } from './operations/remove.ts';
import { revokeOperation } from './operations/revoke.ts';
import { rotateOperation } from './operations/rotate.ts';
import { suspendOperation } from './operations/suspend.ts';
import { unsuspendOperation } from './operations/unsuspend.ts';

export interface AgentOperationDeps {
  readonly agents: AgentRegistry;
  /** Where agents connect, for the hint beside a new token; `undefined` while the door is closed. */
  readonly agentUrl: () => string | undefined;
}

export function agentOperations(deps: AgentOperationDeps): Operation[] {
  return [
    addOperation(deps),
    listOperation(deps),
    rotateOperation(deps),
    suspendOperation(deps),
    unsuspendOperation(deps),
    revokeOperation(deps),
    removeOperation(deps),
  ];
}
