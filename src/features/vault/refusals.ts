// Why the vault gives or changes nothing, in words and codes. None of them knows a value.
import { AppError, type ErrorDetail } from '../../kernel/errors.ts';
import { mostRefs, mostSlots, slotWords, type SlotKind, type VaultErrorCode } from './model.ts';

function refusal(kind: AppError['kind'], code: VaultErrorCode, message: string, hint: string, more: ErrorDetail = {}): AppError {
  return new AppError(kind, code, message, { hint, ...more });
}

export function absent(): AppError {
  return refusal('not_found', 'vault.absent', 'There is no vault yet.', 'It is made with the first: sallyport secret add REF');
}

export function exists(): AppError {
  return refusal('conflict', 'vault.exists', 'There is a vault already.', 'See it with: sallyport vault status');
}

export function locked(): AppError {
  return refusal(
    'unavailable',
    'vault.locked',
    'The vault is locked, so no secret can be used.',
    'A person opens it with: sallyport vault unlock',
  );
}

export function damaged(): AppError {
  return refusal(
    'unavailable',
    'vault.damaged',
    'The rows of the vault are not those that were sealed: somebody edited them or put older ones back. Nothing is taken from them.',
    'Put database, audit folder and keys back from one and the same backup, then start the daemon again.',
  );
}

export function busy(): AppError {
  return refusal(
    'limited',
    'vault.busy',
    'The vault is locked and many calls wait for it already.',
    'A person opens it with: sallyport vault unlock',
    {
      retryAfterMs: 10_000,
    },
  );
}

export function wrongKey(kind: SlotKind): AppError {
  const hint = kind === 'passphrase' ? 'Try again with: sallyport vault unlock' : 'See the slots with: sallyport vault slot ls';
  return refusal('denied', 'vault.wrong_key', `That does not open the vault: it is not ${slotWords[kind]} of this slot.`, hint);
}

export function unknownRef(ref: string): AppError {
  const hint = `A person adds it with: sallyport secret add ${ref}`;
  return refusal('not_found', 'vault.unknown_ref', `There is no secret '${ref}' in the vault.`, hint);
}

export function refExists(ref: string): AppError {
  const hint = `Replace its value with: sallyport secret rotate ${ref}`;
  return refusal('conflict', 'vault.ref_exists', `There is a secret '${ref}' already.`, hint);
}

export function badValue(why: string, hint: string): AppError {
  return refusal('invalid', 'vault.bad_value', `This cannot be the value of a secret: ${why}.`, hint);
}

export function tooManyRefs(): AppError {
  return refusal(
    'limited',
    'vault.too_many',
    `The vault holds ${mostRefs} secrets, the most it takes.`,
    'Remove some: sallyport secret ls',
  );
}

export function tooManySlots(): AppError {
  return refusal(
    'limited',
    'vault.too_many',
    `The vault has ${mostSlots} slots, the most it takes.`,
    'Remove one: sallyport vault slot ls',
  );
}

export function noStartKey(kind: SlotKind): AppError {
  const hint = 'Open it with another slot: sallyport vault unlock. See them with: sallyport vault slot ls';
  return refusal('unavailable', 'vault.start_key', `${slotWords[kind]} holds no secret for this vault.`, hint);
}

export function unknownSlot(id: string): AppError {
  return refusal('not_found', 'vault.unknown_slot', `The vault has no slot '${id}'.`, 'See them with: sallyport vault slot ls');
}

export function slotExists(kind: SlotKind): AppError {
  const hint = 'Remove it first: sallyport vault slot ls, then sallyport vault slot rm ID';
  return refusal('conflict', 'vault.slot_exists', `The vault opens with ${slotWords[kind]} already.`, hint);
}

export function lastSlot(why: string): AppError {
  return refusal('conflict', 'vault.last_slot', why, 'Add another one first: sallyport vault slot add passphrase');
}

export function weakSlot(): AppError {
  const message =
    'The passphrase slot asks for a weaker derivation than this version ever writes, so its row was edited. It opens nothing.';
  return refusal(
    'denied',
    'vault.weak_slot',
    message,
    'Open the vault with another slot, remove this one, and look at: sallyport audit query',
  );
}
