// What this slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import { allowOperation } from './operations/allow.ts';
import { allowedOperation } from './operations/allowed.ts';
import { disallowOperation } from './operations/disallow.ts';
import { listOperation, type ListDeps } from './operations/list.ts';
import { placeOperation, type PlaceDeps } from './operations/place.ts';

export function placementOperations(deps: PlaceDeps & ListDeps): Operation[] {
  return [placeOperation(deps), listOperation(deps), allowedOperation(deps), allowOperation(deps), disallowOperation(deps)];
}
