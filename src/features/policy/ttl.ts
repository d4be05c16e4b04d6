// The grammar of durations and rates, as agents and policy files write them. Strict: no days, no fractions, no sums, no zero, and
// nothing silently replaced by a default (gate contract, scopegate_request_capability).
import { AppError } from '../../kernel/errors.ts';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof unitMs;

/** 30 days: what is meant to last longer is a rule, not a grant. */
export const maxTtlMs = 720 * unitMs.h;
const maxRateCount = 1_000_000;

export interface Rate {
  readonly count: number;
  readonly perMs: number;
  readonly text: string;
}

/** `<n>s`, `<n>m` or `<n>h` in milliseconds, more than zero and at most 720h. Throws `policy.bad_ttl` (kind invalid). */
export function parseTtl(text: string): number {
  const [, digits, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (digits === undefined) {
    throw badTtl(`Invalid ttl '${shown(text)}' — expected '<n>s', '<n>m' or '<n>h'.`, 'Write for example 90s, 15m or 2h.');
  }
  const ms = Number(digits) * unitMs[unit as Unit];
  if (ms === 0) throw badTtl(`Invalid ttl '${shown(text)}' — it must be more than zero.`, 'Write for example 90s, 15m or 2h.');
  if (ms > maxTtlMs) throw badTtl(`Invalid ttl '${shown(text)}' — it is longer than 720h.`, 'Use at most 720h (30 days).');
  return ms;
}

/** The shortest text `parseTtl` reads back; parts of a second are dropped, but never to zero. */
export function formatTtl(ms: number): string {
  const seconds = Math.max(1, Math.floor(ms / unitMs.s));
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** `<n>/s`, `<n>/m` or `<n>/h`, more than zero. Throws `policy.bad_ttl` (kind invalid). */
export function parseRate(text: string): Rate {
  const [, digits, unit] = /^(\d+)\/(s|m|h)$/.exec(text) ?? [];
  const count = Number(digits);
  if (digits === undefined || count === 0 || count > maxRateCount) {
    throw badTtl(
      `Invalid rate '${shown(text)}' — expected '<n>/s', '<n>/m' or '<n>/h', n from 1 to ${maxRateCount}.`,
      'Write for example 30/m.',
    );
  }
  return { count, perMs: unitMs[unit as Unit], text: `${count}/${unit}` };
}

/** True when whatever `one` lets pass in any stretch of time, `other` lets pass too. */
export function rateWithin(one: Rate, other: Rate): boolean {
  return one.count <= other.count && one.perMs >= other.perMs;
}

/** The highest rate in the grammar that is within both: the lower of the two, or where neither is lower, the smaller count in the longer window. */
export function lowerRate(one: Rate, other: Rate): Rate {
  if (rateWithin(one, other)) return one;
  if (rateWithin(other, one)) return other;
  const count = Math.min(one.count, other.count);
  const longer = one.perMs > other.perMs ? one : other;
  return { count, perMs: longer.perMs, text: `${count}${longer.text.slice(longer.text.indexOf('/'))}` };
}

const badTtl = (message: string, hint: string): AppError => new AppError('invalid', 'policy.bad_ttl', message, { hint });

/** Agents send these texts: a message repeats a bounded, visible part of them. */
const shown = (text: string): string => text.slice(0, 32).replace(/[^\x20-\x7e]/g, '?');
