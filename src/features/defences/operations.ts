// What this slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import { clearTaintOperation } from './operations/clear-taint.ts';
import { discardOperation } from './operations/discard.ts';
import { listDecoysOperation } from './operations/list-decoys.ts';
import { overviewOperation, type OverviewDeps } from './operations/overview.ts';
import { plantOperation, type PlantDeps } from './operations/plant.ts';
import { setEffectOperation } from './operations/set-effect.ts';
import { setOperation } from './operations/set.ts';
import { takeInOperation } from './operations/take-in.ts';

export function defenceOperations(deps: PlantDeps & OverviewDeps): Operation[] {
  return [
    plantOperation(deps),
    listDecoysOperation(deps),
    takeInOperation(deps),
    discardOperation(deps),
    overviewOperation(deps),
    setOperation(deps),
    setEffectOperation(deps),
    clearTaintOperation(deps),
  ];
}
