// A slot to be made, as an operation takes it: what the machine keeps is only named, what a person keeps comes derived, beside the input.
import { z } from 'zod';
import type { OperationContext } from '../../kernel/operation.ts';
import { kdfSchema, kdfText } from './kdf.ts';
import { isStartKind, slotKinds, slotWords, startKinds, type SlotFacts, type SlotKind } from './model.ts';
import { commitment } from './ref-input.ts';
import type { NewSlot } from './slots.ts';

const label = z
  .string()
  .max(64)
  .regex(/^\P{Cc}*$/u, 'A label is one line without control characters.')
  .default('')
  .describe('A word for people, such as where the recovery code lies.');

/** The secret `key` travels beside it for a passphrase and a recovery code: 32 bytes of Argon2id, or the bytes of the code. */
export const slotInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(startKinds), label }),
  z.strictObject({ kind: z.literal('passphrase'), label, kdf: kdfSchema, key_commitment: commitment }),
  z.strictObject({ kind: z.literal('recovery'), label, key_commitment: commitment }),
]);
export type SlotInput = z.infer<typeof slotInput>;

export function secretsOf({ kind }: SlotInput): readonly string[] {
  return isStartKind(kind) ? [] : ['key'];
}

/** The key is copied: the gateway zeroes what came along while the slot may still be in the making. */
export function newSlotOf(input: SlotInput, { secrets }: OperationContext): NewSlot {
  return {
    kind: input.kind,
    label: input.label,
    params: input.kind === 'passphrase' ? kdfText(input.kdf) : '{}',
    secret: secrets?.['key'] && new Uint8Array(secrets['key']),
  };
}

export const slotOutput = z.strictObject({
  id: z.string(),
  kind: z.enum(slotKinds),
  label: z.string(),
  created_at: z.string(),
});

export function slotAnswer({ id, kind, label, createdAt }: SlotFacts): z.infer<typeof slotOutput> {
  return { id, kind, label, created_at: createdAt };
}

/** What a person signs when something is to open the vault from now on. */
export function opensWith(kind: SlotKind): string {
  const alone = isStartKind(kind) ? ', at each start, without asking anybody' : '';
  return `${slotWords[kind]}${alone}`;
}
