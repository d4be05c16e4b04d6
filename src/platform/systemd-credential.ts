// The vault's start key as a credential that systemd hands to the daemon (systemd.exec(5), LoadCredentialEncrypted=). It is made outside;
// this only reads it, once, and never writes it.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import type { StartKey } from '../kernel/ports.ts';

export const credentialName = 'sallyport-vault';
const shortest = 32;
const longest = 4_096;

const howTo = `In the unit: LoadCredentialEncrypted=${credentialName}, made with: head -c 32 /dev/urandom | base64 | systemd-creds encrypt --name=${credentialName} - FILE`;

function refused(why: string): AppError {
  return new AppError('unavailable', 'vault.start_key', `The credential ${credentialName} of systemd ${why}.`, { hint: howTo });
}

/** `directory`: $CREDENTIALS_DIRECTORY of the daemon. */
export function createSystemdCredential(directory: string | undefined): StartKey {
  async function read(): Promise<Uint8Array | undefined> {
    if (directory === undefined || directory === '') return undefined;
    const path = join(directory, credentialName);
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((thrown: unknown) => {
      const { code = 'unknown error' } = thrown as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw refused(`cannot be opened (${code})`);
    });
    if (file === undefined) return undefined;
    const bytes = Buffer.alloc(longest + 1);
    try {
      const { mode, uid } = await file.stat();
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refused('is no regular file');
      // Ours with mode 0400, or root's with an entry for us in the access list, whose mask shows as group bits.
      if (uid !== 0 && uid !== process.getuid?.()) throw refused('belongs to another user');
      if ((mode & 0o007) !== 0) throw refused('can be read by everybody');
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return secretOf(bytes.subarray(0, bytesRead));
    } finally {
      bytes.fill(0);
      await file.close();
    }
  }

  return {
    read,
    async make() {
      const secret = await read();
      if (secret === undefined) throw refused('was not given to the daemon');
      return secret;
    },
    remove: () => Promise.resolve(),
  };
}

/** All of it, without the line break that editors and `echo` leave. Copied: the buffer it was read into is zeroed. */
function secretOf(bytes: Buffer): Uint8Array {
  const text = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
  if (text.length < shortest) throw refused(`has ${text.length} bytes; it needs ${shortest} random ones`);
  if (text.length > longest) throw refused(`is longer than ${longest} bytes`);
  return Uint8Array.from(text);
}
