// Who decided about a defence, for the record.
import { actorOf } from '../../kernel/caller.ts';
import type { OperationContext } from '../../kernel/operation.ts';
import type { Decision } from '../vault/model.ts';

export function decisionOf({ caller, proofFacts }: OperationContext): Decision {
  return { actor: actorOf(caller), ...(proofFacts && { proof: proofFacts }) };
}
