// The key at rest, opened as its owner, a stranger and a tamperer would. Real files, real Argon2id.
import { execFileSync } from 'node:child_process';
import { argon2Sync, verify, createPublicKey } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatKeyFile } from './operator-key-format.ts';
import { createOperatorKeyFile, unlockOperatorKey } from './operator-key.ts';
import { readPassphraseFile } from './passphrase-file.ts';

const passphrase = 'correct horse battery staple';

/** Made once with seed 00…1f, salt a5…, iv 5a…; version 1 must open it for ever. */
const golden = {
  v: 1,
  keyId: '56475aa75463474c',
  publicKey: 'A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg',
  kdf: { name: 'argon2id', memoryKiB: 65536, passes: 3, parallelism: 1, salt: 'paWlpaWlpaWlpaWlpaWlpQ' },
  cipher: {
    name: 'aes-256-gcm',
    iv: 'WlpaWlpaWlpaWlpa',
    tag: 'EzT8bK0RUmKozDwIAbUDeA',
    data: 'VwOIvAfAMMTy0CNVMFKWpGBprTwYC_odRnMHIc6jSpc',
  },
  sha256: '4cULTrbPHF-vmAQMx1c1tlVmuT8s23EpawhrPptibyE',
} as const;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operator-key-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function keep(text: string, mode = 0o600): Promise<string> {
  const path = join(folder, 'kept');
  await writeFile(path, text, { mode });
  await chmod(path, mode);
  return path;
}

const refusal = (code: string) => expect.objectContaining({ name: 'AppError', code, hint: expect.stringMatching(/\w{3}/) });

describe('the key file', () => {
  test('[OPER-3] the derivation is Argon2id of RFC 9106 (its own test vector)', () => {
    const tag = argon2Sync('argon2id', {
      message: Buffer.alloc(32, 1),
      nonce: Buffer.alloc(16, 2),
      secret: Buffer.alloc(8, 3),
      associatedData: Buffer.alloc(12, 4),
      parallelism: 4,
      passes: 3,
      memory: 32,
      tagLength: 32,
    });
    expect(tag.toString('hex')).toBe('0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659');
  });

  test('[OPER-3] a file of version 1 made long ago opens and signs', async () => {
    const key = await unlockOperatorKey(await keep(JSON.stringify(golden)), passphrase);
    expect(key.keyId).toBe(golden.keyId);
    const x = golden.publicKey;
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    expect(verify(null, Buffer.from('text'), publicKey, key.sign(Buffer.from('text')))).toBe(true);
  });

  test('[OPER-3] a new file is 0600 in a 0700 folder, holds no trace of seed or passphrase, and opens again', async () => {
    const path = join(folder, 'keys', 'operator.json');
    const made = await createOperatorKeyFile(path, passphrase);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, 'keys'))).toEqual(['operator.json']);
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain(passphrase);
    expect(JSON.parse(text)).toMatchObject({ kdf: { name: 'argon2id', memoryKiB: 65_536, passes: 3, parallelism: 1 } });
    const opened = await unlockOperatorKey(path, passphrase);
    expect([opened.publicKey, opened.keyId]).toEqual([made.publicKey, made.keyId]);
    expect(opened.sign(Buffer.from('a'))).toEqual(made.sign(Buffer.from('a')));
  });

  test('[OPER-3] a wrong passphrase says so and opens nothing', async () => {
    const path = await keep(JSON.stringify(golden));
    for (const wrong of ['correct horse battery stapl', `${passphrase} `, '', passphrase.toUpperCase()]) {
      await expect(unlockOperatorKey(path, wrong)).rejects.toEqual(refusal('operator.wrong_passphrase'));
    }
  });

  test('[OPER-3] a passphrase composed differently by another keyboard is the same passphrase', async () => {
    const path = join(folder, 'operator.json');
    await createOperatorKeyFile(path, 'zw\u00f6lf Boxk\u00e4mpfer jagen');
    await expect(unlockOperatorKey(path, 'zwo\u0308lf Boxka\u0308mpfer jagen')).resolves.toBeDefined();
  });

  test('[OPER-3] every changed field is named as damage, never taken for a wrong passphrase', async () => {
    const damages = [
      { ...golden, v: 2 },
      { ...golden, keyId: '56475aa75463474d' },
      { ...golden, publicKey: 'B6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg' },
      { ...golden, kdf: { ...golden.kdf, passes: 1 } },
      { ...golden, kdf: { ...golden.kdf, salt: 'qaWlpaWlpaWlpaWlpaWlpQ' } },
      { ...golden, cipher: { ...golden.cipher, tag: 'FzT8bK0RUmKozDwIAbUDeA' } },
      { ...golden, cipher: { ...golden.cipher, data: 'WwOIvAfAMMTy0CNVMFKWpGBprTwYC_odRnMHIc6jSpc' } },
      { ...golden, sha256: undefined },
      { ...golden, extra: true },
    ];
    for (const damage of damages) {
      const path = await keep(JSON.stringify(damage));
      await expect(unlockOperatorKey(path, passphrase)).rejects.toEqual(refusal('operator.locked'));
    }
    for (const text of ['', '{', 'null', JSON.stringify(golden).slice(0, -30)]) {
      await expect(unlockOperatorKey(await keep(text), passphrase)).rejects.toEqual(refusal('operator.locked'));
    }
  });

  test('[OPER-3] a tamperer who also mends the checksum still opens nothing: names and parameters are authenticated', async () => {
    const { sha256: _, ...rest } = golden;
    const other = Buffer.alloc(12, 1).toString('base64url');
    for (const changed of [
      { ...rest, kdf: { ...rest.kdf, passes: 1 } },
      { ...rest, cipher: { ...rest.cipher, iv: other } },
    ]) {
      const path = await keep(formatKeyFile(changed));
      await expect(unlockOperatorKey(path, passphrase)).rejects.toMatchObject({ code: 'operator.wrong_passphrase' });
    }
  });

  test('[OPER-3] parameters that would eat the machine, or protect nothing, are refused before anything is derived', async () => {
    const { sha256: _, ...rest } = golden;
    const planted: object[] = [
      { memoryKiB: 2 ** 31 },
      { memoryKiB: 8 },
      { passes: 1e9 },
      { parallelism: 255 },
      { passes: 0 },
      { name: 'argon2d' },
    ];
    for (const change of planted) {
      const path = await keep(formatKeyFile({ ...rest, kdf: { ...rest.kdf, ...change } }));
      await expect(unlockOperatorKey(path, passphrase)).rejects.toEqual(refusal('operator.locked'));
    }
  });

  test('a key is never replaced: of two first runs one wins, the other is told', async () => {
    const path = join(folder, 'operator.json');
    const runs = await Promise.allSettled([
      createOperatorKeyFile(path, passphrase),
      createOperatorKeyFile(path, 'another good passphrase'),
    ]);
    expect(runs.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(runs.find((run) => run.status === 'rejected')?.reason).toEqual(refusal('operator.exists'));
    expect(await readdir(folder)).toEqual(['operator.json']);
  });

  test('a short or monotonous passphrase is refused with advice', async () => {
    for (const weak of ['', 'hunter2', 'elevenchars', 'aaaaaaaaaaaaaaaa', '🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑']) {
      await expect(createOperatorKeyFile(join(folder, 'k'), weak)).rejects.toEqual(refusal('operator.weak_passphrase'));
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test('a missing key says how one is made', async () => {
    await expect(unlockOperatorKey(join(folder, 'none'), passphrase)).rejects.toEqual(refusal('operator.key_missing'));
  });

  test('[OPER-3] a key file others can open is not used', async () => {
    await expect(unlockOperatorKey(await keep(JSON.stringify(golden), 0o640), passphrase)).rejects.toEqual(
      refusal('operator.unsafe_file'),
    );
  });

  test('[OPER-3] a wiped key signs nothing', async () => {
    const key = await unlockOperatorKey(await keep(JSON.stringify(golden)), passphrase);
    key.wipe();
    expect(() => key.sign(Buffer.from('a'))).toThrowError(/wiped/);
  });
});

describe('the passphrase file', () => {
  test('[OPER-4] gives its first line, whatever ends it', async () => {
    for (const text of ['a secret line', 'a secret line\n', 'a secret line\r\nnotes below']) {
      expect(await readPassphraseFile(await keep(text))).toBe('a secret line');
    }
  });

  test('[OPER-4] any group or other bit is refused, with the command that mends it', async () => {
    for (const mode of [0o640, 0o604, 0o620, 0o601, 0o644, 0o666, 0o777]) {
      const path = await keep('a secret line', mode);
      const error = refusal('operator.unsafe_file');
      await expect(readPassphraseFile(path)).rejects.toEqual(error);
      await expect(readPassphraseFile(path)).rejects.toMatchObject({ hint: `Run: chmod 600 ${path}` });
    }
  });

  test('[OPER-4] a link, a folder, an empty first line and a missing file are refused', async () => {
    const path = await keep('a secret line');
    await symlink(path, join(folder, 'link'));
    await mkdir(join(folder, 'folder'), { mode: 0o700 });
    await writeFile(join(folder, 'empty'), '\nsecond line', { mode: 0o600 });
    for (const name of ['link', 'folder', 'empty', 'missing']) {
      await expect(readPassphraseFile(join(folder, name))).rejects.toEqual(refusal('operator.unsafe_file'));
    }
  });

  test('[OPER-4] a file of another user is refused', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root can make a file of another user');
    const path = await keep('a secret line');
    await chown(path, 12_345, 12_345);
    await expect(readPassphraseFile(path)).rejects.toEqual(refusal('operator.unsafe_file'));
  });

  test('[OPER-4] a device or pipe is refused without waiting for it', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('sh', ['-c', 'mkfifo -m 600 "$0"', pipe]);
    for (const path of ['/dev/null', pipe]) {
      await expect(readPassphraseFile(path)).rejects.toMatchObject({ code: 'operator.unsafe_file' });
    }
  });
});
