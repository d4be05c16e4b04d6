// Reads the log's segments front to back as framed records and says where the framing breaks. Judges no hash and no signature.
import type { Files } from '../../kernel/ports.ts';

/** The records of a segment stand in `segments/<index of the first, 16 digits>.seg`, each as uint16 length (big-endian) ‖ bytes. */
export interface Segment {
  readonly first: number;
  readonly path: string;
  readonly size: number;
}

export function segmentPath(folder: string, first: number): string {
  return `${folder}/segments/${String(first).padStart(16, '0')}.seg`;
}

export async function listSegments(files: Files, folder: string): Promise<Segment[]> {
  const segments: Segment[] = [];
  for (const name of await files.list(`${folder}/segments`)) {
    const first = Number(/^(\d{16})\.seg$/.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isSafeInteger(first)) continue;
    const path = `${folder}/segments/${name}`;
    segments.push({ first, path, size: (await files.size(path)) ?? 0 });
  }
  return segments;
}

/** Whole frames of `bytes`, and where the first byte stands that belongs to none. A frame of length 0 belongs to none. */
export function splitFrames(bytes: Uint8Array): { readonly records: Uint8Array[]; readonly ends: number[]; readonly end: number } {
  const records: Uint8Array[] = [];
  const ends: number[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const length = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    if (length === 0 || at + 2 + length > bytes.length) break;
    records.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
    ends.push(at);
  }
  return { records, ends, end: at };
}

export type ScanStep =
  /** Records in order; `ends[i]` is the offset in the segment just behind `records[i]`. */
  | {
      readonly kind: 'records';
      readonly first: number;
      readonly segment: Segment;
      readonly records: readonly Uint8Array[];
      readonly ends: readonly number[];
    }
  /** From `offset` on the segment holds no whole record `index`. The scan goes on with the next segment. */
  | { readonly kind: 'damage'; readonly index: number; readonly segment: Segment; readonly offset: number }
  /** The next segment does not start with the record that is due. */
  | { readonly kind: 'gap'; readonly index: number; readonly segment: Segment };

export interface ScanStart {
  readonly index: number;
  readonly segment: number;
  readonly offset: number;
}

// Small enough that a long scan in the daemon leaves room for calls in between.
const chunkBytes = 1 << 18;

/** From the start given (a record boundary) to the end of the last segment as it stood when the scan began. */
export async function* scanLog(files: Files, folder: string, from?: ScanStart): AsyncGenerator<ScanStep> {
  const segments = (await listSegments(files, folder)).filter(({ first }) => first >= (from?.segment ?? 0));
  let index = from?.index ?? 0;
  for (const [position, segment] of segments.entries()) {
    const resumed = position === 0 && from !== undefined && segment.first === from.segment;
    if (!resumed && segment.first !== index) {
      yield { kind: 'gap', index, segment };
      index = segment.first;
    }
    let offset = resumed ? from.offset : 0;
    if (offset > segment.size) yield { kind: 'damage', index, segment, offset };
    while (offset < segment.size) {
      const length = Math.min(chunkBytes, segment.size - offset);
      const bytes = (await files.readBytes(segment.path, { offset, length })) ?? new Uint8Array(0);
      const { records, ends, end } = splitFrames(bytes);
      const base = offset;
      if (records.length === 0) {
        yield { kind: 'damage', index, segment, offset };
        break;
      }
      yield { kind: 'records', first: index, segment, records, ends: ends.map((one) => base + one) };
      index += records.length;
      offset += end;
    }
  }
}
