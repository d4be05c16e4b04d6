// What the grants slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Grants } from './grants.ts';
import { listOperation } from './operations/list.ts';
import { surveyOperation } from './operations/survey.ts';

export function grantOperations(deps: { readonly grants: Grants; readonly clock: Clock }): Operation[] {
  return [listOperation(deps), surveyOperation(deps)];
}
