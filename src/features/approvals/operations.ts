// What the approvals slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { Approvals } from './approvals.ts';
import type { Decisions } from './decisions.ts';
import { approveOperation } from './operations/approve.ts';
import { denyOperation } from './operations/deny.ts';
import { listOperation } from './operations/list.ts';
import { showOperation } from './operations/show.ts';

export function approvalOperations(deps: { readonly approvals: Approvals & Decisions }): Operation[] {
  return [listOperation(deps), showOperation(deps), approveOperation(deps), denyOperation(deps)];
}
