// operator.create: takes the empty seat. The one decision nobody can sign for yet; afterwards everything needs this key.
import { z } from 'zod';
import { decodeBase64url } from '../../../lib/base64url.ts';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Verifier } from '../../../kernel/ports.ts';
import { possessionInput } from '../model.ts';
import type { OperatorSeat } from '../operator.ts';

const input = z.strictObject({
  publicKey: z.string().length(43).describe('The new public key: 32 bytes of Ed25519 in base64url.'),
  possession: z.string().length(86).describe('Its signature over the possession text of this installation, base64url.'),
});

const output = z.strictObject({ key_id: z.string(), created_at: z.string() });

export function createOperation({ operator, verifier }: { readonly operator: OperatorSeat; readonly verifier: Verifier }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'operator.create',
    summary: 'Make a key the operator of this installation; possible once, while there is none.',
    input,
    output,
    effect: 'change',
    access: 'local',
    async run({ publicKey, possession }) {
      const key = decodeBase64url(publicKey);
      const signature = decodeBase64url(possession);
      const signed = possessionInput(operator.installation, publicKey);
      if (key === undefined || signature === undefined || !verifier.verify(key, signed, signature)) {
        throw new AppError('invalid', 'operator.possession_invalid', 'The new key did not sign for itself.', {
          hint: 'Sign the possession text of this installation with the private half of the key.',
        });
      }
      const { keyId, createdAt } = await operator.create(publicKey);
      return { key_id: keyId, created_at: createdAt };
    },
  });
}
