// What the operator slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { Verifier } from '../../kernel/ports.ts';
import { createOperation } from './operations/create.ts';
import { statementOperation } from './operations/statement.ts';
import { statusOperation } from './operations/status.ts';
import type { OperatorSeat } from './operator.ts';

export function operatorOperations(deps: { readonly operator: OperatorSeat; readonly verifier: Verifier }): Operation[] {
  return [createOperation(deps), statusOperation(deps), statementOperation(deps)];
}
