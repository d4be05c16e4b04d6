// One record with its proof in one text (c2sp.org/tlog-proof): verifiable offline against the log's key alone.
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts';

export interface ProofFile {
  readonly index: number;
  readonly path: readonly Uint8Array[];
  /** The signed checkpoint, verbatim. */
  readonly note: string;
  /** Ours: the record as recorded, and the salt that opens its sealed digests. */
  readonly extra: { readonly record: string; readonly salt?: string };
}

export function formatProof({ index, path, note, extra }: ProofFile): string {
  const lines = [
    'c2sp.org/tlog-proof@v1',
    `extra ${encodeBase64(new TextEncoder().encode(JSON.stringify(extra)))}`,
    `index ${index}`,
    ...path.map(encodeBase64),
  ];
  return `${lines.join('\n')}\n\n${note}`;
}

/** `undefined` for anything that formatProof would not have written. */
export function parseProof(text: string): ProofFile | undefined {
  const split = text.indexOf('\n\n');
  const [head, extraLine = '', indexLine = '', ...hashes] = text.slice(0, Math.max(0, split)).split('\n');
  const extraBytes = decodeBase64(/^extra (\S+)$/.exec(extraLine)?.[1] ?? '-');
  const index = /^index (0|[1-9]\d*)$/.exec(indexLine)?.[1];
  const path = hashes.map(decodeBase64);
  if (head !== 'c2sp.org/tlog-proof@v1' || extraBytes === undefined || index === undefined) return undefined;
  if (!path.every((hash) => hash?.length === 32)) return undefined;
  try {
    const extra = JSON.parse(new TextDecoder().decode(extraBytes)) as ProofFile['extra'];
    return { index: Number(index), path: path as Uint8Array[], note: text.slice(split + 2), extra };
  } catch {
    return undefined;
  }
}
