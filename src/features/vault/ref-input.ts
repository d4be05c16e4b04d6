// What the operations on one secret have in common: its name, what is said of its value, and what comes back.
import { z } from 'zod';
import { actorOf } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { OperationContext } from '../../kernel/operation.ts';
import { refName, refNameHelp, sizeClasses, type Decision, type RefFacts, type SizeClass } from './model.ts';
import { badValue } from './refusals.ts';
import { sizeClassOf, sizeWords } from './secret-value.ts';

export const refInput = z
  .string()
  .regex(refName, `A reference has ${refNameHelp}.`)
  .describe(`The name of the secret: ${refNameHelp}.`);

export const oneRef = z.strictObject({ ref: refInput });

/** base64url of SHA-256, see kernel/carried-secret.ts. */
export const commitment = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'expected a commitment: 43 characters of base64url');

/** The value itself travels beside it, as the secret `value`. */
export const refAndValue = z.strictObject({
  ref: refInput,
  size: z.literal(sizeClasses).describe('Bytes of the smallest class the value fits in.'),
  value_commitment: commitment.describe('Salted SHA-256 of the value, in its place under the signature.'),
});
export type RefAndValue = z.infer<typeof refAndValue>;

export const refOutput = z.strictObject({ ref: z.string(), version: z.int(), changed_at: z.string() });
export type RefOutput = z.infer<typeof refOutput>;

export function refAnswer({ ref, version, changedAt }: RefFacts): RefOutput {
  return { ref, version, changed_at: changedAt };
}

/** The size is shown to a person in words; the commitment stands in the input. */
export function valueFacts({ ref, size }: RefAndValue): JsonObject {
  return { ref, size: sizeWords(size) };
}

/** The value that came along, which is of the size that was signed. Throws `vault.bad_value`. */
export function valueOf(size: SizeClass, { secrets }: OperationContext): Uint8Array {
  const value = secrets?.['value'] ?? new Uint8Array();
  if (sizeClassOf(value.length) === size) return value;
  throw badValue(`it is not ${sizeWords(size)} long, as was signed`, 'Run the command again.');
}

export function decisionOf({ caller, proofFacts }: OperationContext): Decision {
  return { actor: actorOf(caller), ...(proofFacts && { proof: proofFacts }) };
}
