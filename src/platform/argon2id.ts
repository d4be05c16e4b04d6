// Argon2id (RFC 9106) over a passphrase, as the files and slots of this installation use it. Keeps nothing.
import { argon2 } from 'node:crypto';
import { promisify } from 'node:util';

export interface Argon2idCost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly parallelism: number;
}

const deriveBytes = promisify(argon2);

/** 32 bytes. The same passphrase typed on another keyboard may arrive composed differently; NFC makes it one (RFC 8265 §4.2). */
export async function argon2id(
  passphrase: string,
  salt: Uint8Array,
  { memoryKiB, passes, parallelism }: Argon2idCost,
): Promise<Buffer> {
  const message = Buffer.from(passphrase.normalize('NFC'), 'utf8');
  try {
    return await deriveBytes('argon2id', { message, nonce: salt, memory: memoryKiB, passes, parallelism, tagLength: 32 });
  } finally {
    message.fill(0);
  }
}
