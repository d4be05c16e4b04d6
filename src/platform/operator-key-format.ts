// The operator key at rest, version 1: an Ed25519 seed under AES-256-GCM, its key from the passphrase by Argon2id (RFC 9106).
// Only the format and its bounds; knows no file and no passphrase.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../lib/canonical-json.ts';

const bytes = (length: number) =>
  z.string().refine((text) => {
    const decoded = Buffer.from(text, 'base64url');
    return decoded.length === length && decoded.toString('base64url') === text;
  });

/** Upper bounds keep a planted file from eating the machine; lower bounds are what we would still call Argon2id. */
const kdf = z.strictObject({
  name: z.literal('argon2id'),
  memoryKiB: z.int().min(19_456).max(524_288),
  passes: z.int().min(1).max(16),
  parallelism: z.int().min(1).max(8),
  salt: bytes(16),
});

const format = z.strictObject({
  v: z.literal(1),
  keyId: z.string().regex(/^[0-9a-f]{16}$/),
  publicKey: bytes(32),
  kdf,
  cipher: z.strictObject({ name: z.literal('aes-256-gcm'), iv: bytes(12), tag: bytes(16), data: bytes(32) }),
  /** Over all the rest, without a key: tells a damaged file from a wrong passphrase before anything is asked. */
  sha256: bytes(32),
});

export type OperatorKeyFile = z.infer<typeof format>;
export type Kdf = z.infer<typeof kdf>;
type Head = Pick<OperatorKeyFile, 'v' | 'keyId' | 'publicKey' | 'kdf'>;

/** What the cipher authenticates beside the seed: version, names of the key and every parameter of the derivation. */
export function boundData({ v, keyId, publicKey, kdf }: Head): Uint8Array {
  return new TextEncoder().encode(`sallyport operator key\n${canonicalJson({ v, keyId, publicKey, kdf })}`);
}

export function formatKeyFile(file: Omit<OperatorKeyFile, 'sha256'>): string {
  return `${JSON.stringify({ ...file, sha256: checksum(file) }, undefined, 2)}\n`;
}

/** The parsed file, or `undefined` when it is damaged, from another version, or out of bounds. */
export function parseKeyFile(text: string): OperatorKeyFile | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = format.safeParse(json);
  if (!parsed.success) return undefined;
  const { sha256, ...rest } = parsed.data;
  return checksum(rest) === sha256 && rest.keyId === keyIdOf(Buffer.from(rest.publicKey, 'base64url')) ? parsed.data : undefined;
}

/** First 16 hex digits of SHA-256 of the raw public key, as in features/operator/model.ts. */
export function keyIdOf(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 16);
}

function checksum(file: Omit<OperatorKeyFile, 'sha256'>): string {
  return createHash('sha256').update(canonicalJson(file)).digest('base64url');
}
