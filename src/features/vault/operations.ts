// What the vault offers to the doors.
import type { Operation } from '../../kernel/operation.ts';
import type { VaultOperationDeps } from './operation-deps.ts';
import { addSecretOperation } from './operations/add-secret.ts';
import { addSlotOperation } from './operations/add-slot.ts';
import { initOperation } from './operations/init.ts';
import { listSecretsOperation } from './operations/list-secrets.ts';
import { lockOperation } from './operations/lock.ts';
import { recoverOperation } from './operations/recover.ts';
import { refsOperation } from './operations/refs.ts';
import { removeSecretOperation } from './operations/remove-secret.ts';
import { removeSlotOperation } from './operations/remove-slot.ts';
import { rotateKeyOperation } from './operations/rotate-key.ts';
import { rotateSecretOperation } from './operations/rotate-secret.ts';
import { slotsOperation } from './operations/slots.ts';
import { statusOperation } from './operations/status.ts';
import { unlockOperation } from './operations/unlock.ts';

export function vaultOperations(deps: VaultOperationDeps): Operation[] {
  return [
    refsOperation(deps),
    addSecretOperation(deps),
    listSecretsOperation(deps),
    rotateSecretOperation(deps),
    removeSecretOperation(deps),
    statusOperation(deps),
    initOperation(deps),
    unlockOperation(deps),
    lockOperation(deps),
    slotsOperation(deps),
    addSlotOperation(deps),
    removeSlotOperation(deps),
    rotateKeyOperation(deps),
    recoverOperation(deps),
  ];
}
