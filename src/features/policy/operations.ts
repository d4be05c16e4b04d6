// What the policy slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import { acceptOperation } from './operations/accept.ts';
import { adoptOperation } from './operations/adopt.ts';
import { checkOperation, type CheckDeps } from './operations/check.ts';
import { digestOperation } from './operations/digest.ts';
import { explainOperation, type ExplainDeps } from './operations/explain.ts';
import { rejectOperation } from './operations/reject.ts';
import { reviewOperation, type ReviewDeps } from './operations/review.ts';
import type { Policy, PolicyAdmin } from './policy.ts';

export interface PolicyOperationDeps extends CheckDeps, ExplainDeps, ReviewDeps {
  readonly policy: Policy & PolicyAdmin;
}

export function policyOperations(deps: PolicyOperationDeps): Operation[] {
  return [
    digestOperation(deps),
    checkOperation(deps),
    explainOperation(deps),
    adoptOperation(deps),
    reviewOperation(deps),
    acceptOperation(deps),
    rejectOperation(deps),
  ];
}
