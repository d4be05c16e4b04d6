// Finds records in the segment files: one by index or id, or the newest that match. Reads in chunks, so that calls go on in between.
import { AppError } from '../../kernel/errors.ts';
import type { Files } from '../../kernel/ports.ts';
import type { AuditRecord } from './model.ts';
import { idTime, parseRecord } from './record.ts';
import { listSegments, scanLog, type Segment } from './scan.ts';

export interface FoundRecord {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly record: AuditRecord;
}

async function* recordsFrom(files: Files, folder: string, segment: Segment): AsyncGenerator<FoundRecord> {
  for await (const step of scanLog(files, folder, { index: segment.first, segment: segment.first, offset: 0 })) {
    if (step.kind !== 'records') continue;
    for (const [at, bytes] of step.records.entries()) {
      const record = parseRecord(bytes);
      if (record !== undefined) yield { index: step.first + at, bytes, record };
    }
  }
}

async function firstTime(files: Files, folder: string, segment: Segment): Promise<number> {
  for await (const { record } of recordsFrom(files, folder, segment)) return record.t;
  return Number.MAX_SAFE_INTEGER;
}

/** The last segment for which `holds` is true, given that it is for a prefix of them; the first one when it is for none. */
async function lastWhere(
  segments: readonly Segment[],
  holds: (segment: Segment) => Promise<boolean>,
): Promise<Segment | undefined> {
  let low = 0;
  let high = segments.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await holds(segments[middle] as Segment)) low = middle;
    else high = middle - 1;
  }
  return segments[low];
}

/** `which`: an index in decimal, or an id. Throws `audit.not_found`. */
export async function findRecord(files: Files, folder: string, which: string): Promise<FoundRecord> {
  const segments = await listSegments(files, folder);
  const index = /^\d{1,15}$/.test(which) ? Number(which) : undefined;
  const time = idTime(which);
  if (index !== undefined || time !== undefined) {
    // A record is never older than its id, so it stands in or behind the last segment that began before the id was made.
    const start = await lastWhere(segments, async (segment) =>
      index !== undefined ? segment.first <= index : (await firstTime(files, folder, segment)) < (time ?? 0),
    );
    if (start !== undefined) {
      for await (const found of recordsFrom(files, folder, start)) {
        if (found.index === index || found.record.id === which) return found;
        if (index !== undefined && found.index > index) break;
      }
    }
  }
  throw new AppError('not_found', 'audit.not_found', `There is no record '${which}'.`, {
    hint: 'Give an index or an id as `sallyport audit query` shows them.',
  });
}

export interface RecordFilter {
  readonly actor?: string | undefined;
  readonly event?: string | undefined;
  /** Milliseconds since the Unix epoch, both inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only records with a smaller index: where the page before ended. */
  readonly before?: number | undefined;
}

/** Newest first. `more`: there are older ones that may match. */
export async function queryRecords(
  files: Files,
  folder: string,
  filter: RecordFilter,
  limit: number,
  signal?: AbortSignal,
): Promise<{ readonly found: readonly FoundRecord[]; readonly more: boolean }> {
  const { actor, event, since = 0, until = Number.MAX_SAFE_INTEGER, before = Number.MAX_SAFE_INTEGER } = filter;
  const found: FoundRecord[] = [];
  const segments = (await listSegments(files, folder)).filter(({ first }) => first < before);
  for (const [position, segment] of [...segments.entries()].reverse()) {
    signal?.throwIfAborted();
    const end = Math.min(segments[position + 1]?.first ?? Number.MAX_SAFE_INTEGER, before);
    const matching: FoundRecord[] = [];
    let oldest = Number.MAX_SAFE_INTEGER;
    for await (const one of recordsFrom(files, folder, segment)) {
      if (one.index >= end) break;
      const { record } = one;
      oldest = Math.min(oldest, record.t);
      if (record.t < since || record.t > until) continue;
      if ((actor !== undefined && record.actor !== actor) || (event !== undefined && record.event !== event)) continue;
      matching.push(one);
      // One more than can be shown tells whether there is more; older ones of this segment need not be kept.
      if (matching.length > limit + 1) matching.shift();
    }
    found.push(...matching.reverse());
    if (found.length > limit) return { found: found.slice(0, limit), more: true };
    if (oldest < since) break;
  }
  return { found, more: false };
}
