// Where personal data and key ids stand in a text. Looks only where the rarest part of a finding is, since most text holds none: a
// search for everything that could begin one costs more than all else that is done to an answer. Knows no JSON.
import type { RedactCategory } from '../policy/model.ts';

export interface Detector {
  /** A text without any of these holds no finding, which is cheap to see. */
  readonly needs: readonly string[];
  /** Every candidate, replaced by what `mask` makes of it. */
  readonly replace: (text: string, mask: (candidate: string) => string) => string;
}

// Every expression is linear: no nested quantifier can match the same text in two ways.
const phone = /\+\d(?:[ ().-]{0,2}\d){7,14}(?!\d)/y;
const card = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;
const accessKey = /(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g;
const domain = /@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/y;
const longestLocalPart = 64;
const shortestCard = 13;

export const detectors: Readonly<Record<RedactCategory, Detector>> = {
  email: { needs: ['@'], replace: (text, mask) => replaceAround(text, '@', address, mask) },
  phone: { needs: ['+'], replace: (text, mask) => replaceAround(text, '+', phoneNumber, mask) },
  card: { needs: [], replace: replaceCards },
  aws_access_key: { needs: ['AKIA', 'ASIA'], replace: (text, mask) => text.replace(accessKey, mask) },
};

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Replaces what `spanAt` finds around each `sign`; it may not reach back before `least`. */
function replaceAround(
  text: string,
  sign: string,
  spanAt: (text: string, at: number, least: number) => Span | undefined,
  mask: (candidate: string) => string,
): string {
  let done = '';
  let from = 0;
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, Math.max(at + 1, from))) {
    const span = spanAt(text, at, from);
    if (span === undefined) continue;
    done += text.slice(from, span.start) + mask(text.slice(span.start, span.end));
    from = span.end;
  }
  return from === 0 ? text : done + text.slice(from);
}

function address(text: string, at: number, least: number): Span | undefined {
  const start = localStart(text, Math.max(least, at - longestLocalPart), at);
  if (start === at) return undefined;
  domain.lastIndex = at;
  return domain.test(text) ? { start, end: domain.lastIndex } : undefined;
}

/** Where the local part before an @ begins, not below `least`; `at` itself when there is none. */
function localStart(text: string, least: number, at: number): number {
  let start = at;
  while (start > least && isLocal(text.charCodeAt(start - 1))) start -= 1;
  while (start < at && !isAlphanumeric(text.charCodeAt(start))) start += 1;
  return start;
}

/** What the local part of an address is made of: letters, digits, and `.`, `_`, `%`, `+`, `-`. */
function isLocal(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2e || code === 0x5f || code === 0x25 || code === 0x2b || code === 0x2d;
}

function isAlphanumeric(code: number): boolean {
  const lower = code | 0x20;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x7a);
}

function phoneNumber(text: string, at: number): Span | undefined {
  if (!isDigit(text.charCodeAt(at + 1))) return undefined;
  phone.lastIndex = at;
  return phone.test(text) ? { start: at, end: phone.lastIndex } : undefined;
}

/**
 * A card stands within one run of digits, spaces and hyphens that is at least as long as the shortest card, and every such run has one
 * of any 13 characters in a row: only every 13th is looked at.
 */
function replaceCards(text: string, mask: (candidate: string) => string): string {
  const maskCard = (found: string): string => (luhn(found) ? mask(found) : found);
  let done = '';
  let from = 0;
  let at = shortestCard - 1;
  while (at < text.length) {
    if (!isInCard(text.charCodeAt(at))) {
      at += shortestCard;
      continue;
    }
    let start = at;
    let end = at + 1;
    while (start > 0 && isInCard(text.charCodeAt(start - 1))) start -= 1;
    while (end < text.length && isInCard(text.charCodeAt(end))) end += 1;
    if (end - start >= shortestCard) {
      const run = text.slice(start, end);
      const masked = run.replace(card, maskCard);
      if (masked !== run) {
        done += text.slice(from, start) + masked;
        from = end;
      }
    }
    at = end + shortestCard;
  }
  return from === 0 ? text : done + text.slice(from);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A digit, a space or a hyphen. */
function isInCard(code: number): boolean {
  return isDigit(code) || code === 0x20 || code === 0x2d;
}

/** The Luhn check of ISO/IEC 7812-1 over the digits of a candidate. */
function luhn(candidate: string): boolean {
  let sum = 0;
  let double = false;
  for (let index = candidate.length - 1; index >= 0; index -= 1) {
    const digit = candidate.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) continue;
    const value = double ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
    double = !double;
  }
  return sum % 10 === 0;
}
