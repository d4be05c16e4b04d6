// Secret bytes that travel beside the input of an operation and are no part of it: neither signed in clear, nor kept, nor recorded. What
// is signed holds a commitment in their place. Knows no vault and no wire.

/** `salt`: 32 random bytes that leave the caller with the value only, so that a kept commitment tells nothing about the value. */
export interface CarriedSecret {
  readonly value: Uint8Array;
  readonly salt: Uint8Array;
}

/** By name, as the operation declares them (`Operation.secrets`). */
export type CarriedSecrets = Readonly<Record<string, CarriedSecret>>;

export const saltBytes = 32;

/** The field of a signed input that holds the commitment of a secret: base64url of SHA-256 over `commitmentInput`. */
export function commitmentField(name: string): string {
  return `${name}_commitment`;
}

const encoder = new TextEncoder();

/** What is hashed: a domain line, the name, the salt, the value. The salt has a fixed length, so no two cuts give the same bytes. */
export function commitmentInput(name: string, { value, salt }: CarriedSecret): Uint8Array {
  if (salt.length !== saltBytes) throw new RangeError(`a salt has ${saltBytes} bytes`);
  const head = encoder.encode(`sallyport carried secret v1\n${name}\n`);
  const bytes = new Uint8Array(head.length + salt.length + value.length);
  bytes.set(head);
  bytes.set(salt, head.length);
  bytes.set(value, head.length + salt.length);
  return bytes;
}
