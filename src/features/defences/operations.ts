// What this slice offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import { clearTaintOperation } from './operations/clear-taint.ts';
import { listDecoysOperation } from './operations/list-decoys.ts';
import { plantOperation, type PlantDeps } from './operations/plant.ts';
import { overviewOperation, setEffectOperation, setModesOperation, type SettingsDeps } from './operations/settings.ts';
import { discardOperation, takeInOperation } from './operations/take-in.ts';

export function defenceOperations(deps: PlantDeps & SettingsDeps): Operation[] {
  return [
    plantOperation(deps),
    listDecoysOperation(deps),
    takeInOperation(deps),
    discardOperation(deps),
    overviewOperation(deps),
    setModesOperation(deps),
    setEffectOperation(deps),
    clearTaintOperation(deps),
  ];
}
