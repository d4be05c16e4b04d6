// The operator's private key, for the command line only; the daemon never opens it. Made once, unlocked for one decision, wiped.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import { argon2id } from './argon2id.ts';
import { signerFromSeed } from './crypto.ts';
import { boundData, formatKeyFile, keyIdOf, parseKeyFile, type Kdf, type OperatorKeyFile } from './operator-key-format.ts';
import { readPrivateFile } from './private-file.ts';

/** Characters; short of four random words, longer than what people type without thinking. */
export const shortestPassphrase = 12;

export interface UnlockedOperatorKey {
  /** base64url, 32 bytes. */
  readonly publicKey: string;
  readonly keyId: string;
  /** Ed25519, 64 bytes. Throws after `wipe`. */
  sign(data: Uint8Array): Uint8Array;
  /** Zeroes our copy of the seed. Copies the runtime made (strings, the crypto library) are out of reach and end with the process. */
  wipe(): void;
}

/**
 * Makes a key and its file (0600, its folder 0700), and opens it. Never replaces a file: `operator.exists` (kind conflict). Throws
 * `operator.weak_passphrase` (kind invalid) below 12 characters.
 */
export async function createOperatorKeyFile(path: string, passphrase: string): Promise<UnlockedOperatorKey> {
  assertStrongPassphrase(passphrase);
  const seed = randomBytes(32);
  const publicKey = signerFromSeed(seed).publicKey;
  const kdf: Kdf = { name: 'argon2id', memoryKiB: 65_536, passes: 3, parallelism: 1, salt: randomBytes(16).toString('base64url') };
  const head = { v: 1, keyId: keyIdOf(publicKey), publicKey: Buffer.from(publicKey).toString('base64url'), kdf } as const;
  await writeOnce(path, formatKeyFile({ ...head, cipher: await seal(seed, passphrase, head) }));
  return unlocked(seed, head);
}

/**
 * Throws `operator.key_missing` (not_found), `operator.unsafe_file` (denied: link, not ours, open to others), `operator.locked`
 * (unavailable: damaged or tampered) and `operator.wrong_passphrase` (denied).
 */
export async function unlockOperatorKey(path: string, passphrase: string): Promise<UnlockedOperatorKey> {
  const text = await readPrivateFile(path, { what: 'operator key', maxBytes: 8_192 });
  if (text === undefined) {
    throw new AppError('not_found', 'operator.key_missing', `There is no operator key at ${path}.`, {
      hint: 'Create one with: sallyport operator init. A home that has an operator needs its own key file back.',
    });
  }
  const file = parseKeyFile(text);
  if (file === undefined) throw damaged(path);
  const seed = await unseal(file, passphrase);
  if (Buffer.from(signerFromSeed(seed).publicKey).toString('base64url') === file.publicKey) return unlocked(seed, file);
  seed.fill(0);
  throw damaged(path);
}

function unlocked(seed: Buffer, { keyId, publicKey }: Pick<OperatorKeyFile, 'keyId' | 'publicKey'>): UnlockedOperatorKey {
  let signer: ReturnType<typeof signerFromSeed> | undefined = signerFromSeed(seed);
  return {
    publicKey,
    keyId,
    sign(data) {
      if (signer === undefined) throw new AppError('internal', 'operator.locked', 'The operator key was wiped; unlock it again.');
      return signer.sign(data);
    },
    wipe() {
      seed.fill(0);
      signer = undefined;
    },
  };
}

function derive(passphrase: string, { salt, ...cost }: Kdf): Promise<Buffer> {
  return argon2id(passphrase, Buffer.from(salt, 'base64url'), cost);
}

async function seal(seed: Buffer, passphrase: string, head: Parameters<typeof boundData>[0]): Promise<OperatorKeyFile['cipher']> {
  const key = await derive(passphrase, head.kdf);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(boundData(head));
  const data = Buffer.concat([cipher.update(seed), cipher.final()]);
  key.fill(0);
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  return { name: 'aes-256-gcm', iv: text(iv), tag: text(cipher.getAuthTag()), data: text(data) };
}

async function unseal(file: OperatorKeyFile, passphrase: string): Promise<Buffer> {
  const key = await derive(passphrase, file.kdf);
  const { iv, tag, data } = file.cipher;
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: 16 });
  decipher.setAAD(boundData(file)).setAuthTag(Buffer.from(tag, 'base64url'));
  const seed = decipher.update(Buffer.from(data, 'base64url'));
  try {
    decipher.final();
    return seed;
  } catch {
    seed.fill(0);
    throw new AppError('denied', 'operator.wrong_passphrase', 'That passphrase does not open the operator key.', {
      hint: 'Try again; without the passphrase nothing can be decided, and nobody can reset it.',
    });
  } finally {
    key.fill(0);
  }
}

/** Appears whole or not at all, and only where nothing was: of two first runs one wins and the other is told. */
async function writeOnce(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await writeSynced(draft, text);
    await link(draft, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    throw new AppError('conflict', 'operator.exists', `There is an operator key at ${path} already.`, {
      hint: 'It is never replaced. Sign with it, or move it away yourself if it belongs to no installation.',
      cause: thrown,
    });
  } finally {
    await rm(draft, { force: true });
  }
  const directory = await open(folder);
  await directory.sync();
  await directory.close();
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Throws `operator.weak_passphrase` (kind invalid) below 12 characters, or where the same few repeat. */
export function assertStrongPassphrase(passphrase: string): void {
  const weak = (why: string): AppError =>
    new AppError('invalid', 'operator.weak_passphrase', `The passphrase ${why}.`, {
      hint: 'Four or more random words are easy to remember and hard to guess.',
    });
  const characters = Array.from(passphrase.normalize('NFC'));
  if (characters.length < shortestPassphrase) throw weak(`needs at least ${shortestPassphrase} characters`);
  if (new Set(characters).size < 5) throw weak('repeats the same few characters');
}

function damaged(path: string): AppError {
  return new AppError('unavailable', 'operator.locked', `The operator key ${path} is damaged or was changed.`, {
    hint: 'Restore the file from a backup. It is not opened in this state.',
  });
}
