// One record as bytes: canonical JSON (RFC 8785) with integers only, sealed texts as salted digests. Knows no file.
import { canonicalJson } from '../../lib/canonical-json.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Clock, Digest, Entropy } from '../../kernel/ports.ts';
import type { AuditEntry, AuditRecord } from './model.ts';

/** The most a C2SP entry bundle can hold. */
export const maxRecordBytes = 65_535;

/** A record without its place in time, which it gets when it is appended. */
export type Draft = Omit<AuditRecord, 'v' | 't' | 'committedAt'>;

export interface Drafter {
  draft(entry: AuditEntry, intent?: string): Draft;
  /** Opens this one record's sealed digests and no other's. */
  readonly saltOf: (id: string) => Uint8Array;
}

/** UUIDv7 (RFC 9562 §5.7) made of a version 4 one: time first, so that an id says where in the log to look. */
function createTimeOrder(): (uuid4: string, nowMs: number) => string {
  let lastMs = -1;
  let head = '';
  return (uuid4, nowMs) => {
    const ms = Math.floor(nowMs);
    if (ms !== lastMs) {
      const time = ms.toString(16).padStart(12, '0');
      head = `${time.slice(0, 8)}-${time.slice(8)}-7`;
      lastMs = ms;
    }
    return head + uuid4.slice(15);
  };
}

/** Milliseconds since the Unix epoch in a time-ordered id; `undefined` for anything else. */
export function idTime(id: string): number | undefined {
  const parts = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.exec(id);
  return parts ? Number.parseInt(`${parts[1]}${parts[2]}`, 16) : undefined;
}

export function sealText(digest: Digest, salt: Uint8Array, text: string): string {
  return digest.hmacSha256Text(salt, text);
}

export function createDrafter(deps: { clock: Clock; entropy: Entropy; digest: Digest; saltKey: Uint8Array }): Drafter {
  const { clock, entropy, digest, saltKey } = deps;
  const saltOf = (id: string): Uint8Array => digest.hmacSha256(saltKey, id);
  const timeOrdered = createTimeOrder();
  return {
    saltOf,
    draft({ event, actor, facts, sealed }, intent) {
      const id = timeOrdered(entropy.uuid(), clock.now());
      // In the order of the keys, which spares the sorting.
      const draft = { actor, event, ...(facts && { facts }), id, ...(intent !== undefined && { intent }) };
      if (sealed === undefined) return draft;
      const salt = saltOf(id);
      const digests: Record<string, string> = {};
      for (const field of Object.keys(sealed)) digests[field] = sealText(digest, salt, sealed[field] as string);
      return { ...draft, sealed: digests };
    },
  };
}

function onlyIntegers(value: Json): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value as JsonObject).every(onlyIntegers);
}

const encoder = new TextEncoder();

/** Writes the record into `target` from `offset` and returns its length. Throws `audit.bad_entry` for what no record can hold. */
export function encodeRecord(record: AuditRecord, target: Uint8Array, offset: number): number {
  if (record.facts !== undefined && !onlyIntegers(record.facts)) {
    throw new AppError('internal', 'audit.bad_entry', `the facts of ${record.event} hold a number that is no safe integer`);
  }
  const text = canonicalJson(record as unknown as JsonObject);
  const { read, written } = encoder.encodeInto(text, target.subarray(offset));
  if (read < text.length || written > maxRecordBytes) {
    throw new AppError('internal', 'audit.bad_entry', `a record of ${record.event} is longer than ${maxRecordBytes} bytes`, {
      hint: 'Put long texts under `sealed`: only their digests are recorded.',
    });
  }
  return written;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const members = new Set(['v', 'id', 't', 'actor', 'event', 'facts', 'sealed', 'intent', 'committedAt', 'rights']);

function isRecord(value: unknown): value is AuditRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { v, id, t, actor, event, facts, sealed, intent, committedAt, rights } = value as Record<string, unknown>;
  const isObject = (member: unknown): boolean =>
    member === undefined || (typeof member === 'object' && member !== null && !Array.isArray(member));
  return (
    v === 1 &&
    typeof id === 'string' &&
    Number.isSafeInteger(t) &&
    typeof actor === 'string' &&
    typeof event === 'string' &&
    isObject(facts) &&
    isObject(sealed) &&
    (intent === undefined || typeof intent === 'string') &&
    (committedAt === undefined || Number.isSafeInteger(committedAt)) &&
    (rights === undefined || typeof rights === 'string') &&
    Object.keys(value).every((member) => members.has(member))
  );
}

/** The record in exactly its one canonical spelling; `undefined` for any other bytes. Events of later versions are kept. */
export function parseRecord(bytes: Uint8Array): AuditRecord | undefined {
  try {
    const text = decoder.decode(bytes);
    const value = JSON.parse(text) as unknown;
    return isRecord(value) && canonicalJson(value as unknown as JsonObject) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
