// What the registry offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import { listOperation } from './operations/list.ts';
import { showOperation } from './operations/show.ts';
import { updateOperation } from './operations/update.ts';
import type { Registry } from './registry.ts';

export function registryOperations(deps: { readonly registry: Registry }): Operation[] {
  return [listOperation(deps), showOperation(deps), updateOperation(deps)];
}
