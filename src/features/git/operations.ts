// What this slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { GitKeeping } from './git.ts';
import { allowOperation } from './operations/allow.ts';
import { disallowOperation } from './operations/disallow.ts';
import { listOperation } from './operations/list.ts';

export function gitOperations(deps: { readonly git: GitKeeping }): Operation[] {
  return [allowOperation(deps), disallowOperation(deps), listOperation(deps)];
}
