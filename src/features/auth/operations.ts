// What the auth slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { AuthOperationDeps } from './operation-deps.ts';
import { loginTargetOperation } from './operations/login-target.ts';
import { loginOperation } from './operations/login.ts';
import { logoutOperation } from './operations/logout.ts';
import { authStatusOperation } from './operations/status.ts';

export function authOperations(deps: AuthOperationDeps): Operation[] {
  return [authStatusOperation(deps), loginTargetOperation(deps), loginOperation(deps), logoutOperation(deps)];
}
