// What the fleet slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { FleetOperationDeps } from './operation-deps.ts';
import { acceptOperation } from './operations/accept.ts';
import { acceptToolsOperation } from './operations/accept-tools.ts';
import { addOperation } from './operations/add.ts';
import { diagnoseOperation } from './operations/diagnose.ts';
import { healthOperation } from './operations/health.ts';
import { listOperation } from './operations/list.ts';
import { removeOperation } from './operations/remove.ts';
import { retryOperation } from './operations/retry.ts';
import { reviewOperation } from './operations/review.ts';

export function fleetOperations(deps: FleetOperationDeps): Operation[] {
  return [
    diagnoseOperation(deps),
    healthOperation(deps),
    addOperation(deps),
    acceptOperation(deps),
    listOperation(deps),
    retryOperation(deps),
    removeOperation(deps),
    reviewOperation(deps),
    acceptToolsOperation(deps),
  ];
}
