// The log up to one checkpoint as a set of files that anybody can verify: C2SP tiles and entry bundles, every checkpoint, the key,
// the script that checks them. Knows no place to write to.
import type { Files } from '../../kernel/ports.ts';
import { AppError } from '../../kernel/errors.ts';
import { listed, openCheckpoint, splitNotes, type Checkpoint } from './checkpoint.ts';
import type { Evidence } from './evidence.ts';
import { formatVerifierKey } from './note.ts';
import { scanLog } from './scan.ts';
import { listPath } from './signed-checkpoints.ts';
import { tilePath, tileWidth } from './tiles.ts';

export interface BundleFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const text = (name: string, content: string): BundleFile => ({ name, bytes: new TextEncoder().encode(content) });

function readme(key: string, { size }: Checkpoint): string {
  return `# An audit log, exported

${size} records of a Sallyport log, with everything that proves them.

    node verify-audit.mjs .

checks every record, every stored hash and every signed checkpoint; it needs Node.js 20 or newer and nothing else. It believes the key
in this folder unless you give the one you know:

    node verify-audit.mjs . --key '${key}'

A checkpoint you kept from earlier shows that nothing before it was changed since: add \`--against FILE\`.

| file | what it is |
|---|---|
| checkpoint | the newest signed state: origin, number of records, root hash (c2sp.org/tlog-checkpoint) |
| checkpoints.txt | every state that was ever signed |
| log.vkey | the key that signed them (c2sp.org/signed-note) |
| tile/entries/ | the records, 256 a file, each as two bytes of length and JSON (c2sp.org/tlog-tiles) |
| tile/0/, tile/1/ … | the Merkle tree over them (RFC 6962) |

Texts under \`sealed\` are HMAC-SHA-256 digests under a salt of that record; \`sallyport audit prove\` gives out the salt of one record.
`;
}

/** Records as entry bundles, exactly as many as the checkpoint covers. */
async function* entryBundles(files: Files, folder: string, size: number): AsyncGenerator<BundleFile> {
  let frames: Uint8Array[] = [];
  let count = 0;
  const bundle = (): BundleFile => {
    const total = frames.reduce((sum, frame) => sum + frame.length, 0);
    const bytes = new Uint8Array(total);
    let at = 0;
    for (const frame of frames) {
      bytes.set(frame, at);
      at += frame.length;
    }
    const width = frames.length;
    frames = [];
    return { name: tilePath('entries', Math.ceil(count / tileWidth) - 1, width), bytes };
  };
  for await (const step of scanLog(files, folder)) {
    if (step.kind !== 'records') break;
    for (const record of step.records.slice(0, size - count)) {
      const frame = new Uint8Array(2 + record.length);
      frame[0] = record.length >> 8;
      frame[1] = record.length & 0xff;
      frame.set(record, 2);
      frames.push(frame);
      count += 1;
      if (frames.length === tileWidth) yield bundle();
    }
    if (count === size) break;
  }
  if (frames.length > 0) yield bundle();
  if (count < size) {
    throw new AppError('unavailable', 'audit.locked', `Only ${count} of ${size} records can be read.`, {
      hint: 'Run `sallyport audit verify` to see what happened to the others.',
    });
  }
}

async function* tiles({ tile }: Evidence, size: number): AsyncGenerator<BundleFile> {
  for (let level = 0, count = size; count > 0; level += 1, count = Math.floor(count / tileWidth)) {
    const full = Math.floor(count / tileWidth);
    for (let index = 0; index < full; index += 1) yield { name: tilePath(level, index), bytes: await tile(level, index) };
    const width = count % tileWidth;
    if (width > 0) yield { name: tilePath(level, full, width), bytes: (await tile(level, full)).subarray(0, width * 32) };
  }
}

/** The files of a bundle, in an order in which they can be written. `script` is the text of the offline verifier. */
export async function* bundleFiles(
  files: Files,
  evidence: Evidence,
  checkpoint: Checkpoint,
  script: string,
): AsyncGenerator<BundleFile> {
  const { folder, key, verifier } = evidence;
  const list = splitNotes((await files.readText(listPath(folder))) ?? '').notes;
  const covered = list.filter((note) => (openCheckpoint(note, key, verifier)?.size ?? 0) <= checkpoint.size);
  const verifierKey = formatVerifierKey(key);
  yield text('README.md', readme(verifierKey, checkpoint));
  yield text('verify-audit.mjs', script);
  yield text('log.vkey', `${verifierKey}\n`);
  yield text('checkpoint', checkpoint.note);
  yield text('checkpoints.txt', covered.map(listed).join(''));
  yield* entryBundles(files, folder, checkpoint.size);
  yield* tiles(evidence, checkpoint.size);
}
