// Masks personal data and key ids in what comes back from an upstream, wherever a string stands: text, structured content,
// embedded resources, and JSON carried inside a string. Refuses to know which rule asked for it.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { RedactCategory } from '../policy/model.ts';

interface Detector {
  /** A text without any of these holds no finding, which is cheap to see. */
  readonly needs: readonly string[];
  /** Every candidate, replaced by what `mask` makes of it. */
  readonly replace: (text: string, mask: (candidate: string) => string) => string;
}

// Every expression is linear: no nested quantifier can match the same text in two ways.
const phone = /\+\d(?:[ ().-]{0,2}\d){7,14}(?!\d)/g;
const card = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;
const accessKey = /(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g;
const domain = /@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/y;
const localCharacter = /[A-Za-z0-9._%+-]/;
const localFirst = /[A-Za-z0-9]/;
const longestLocalPart = 64;

const detectors: Readonly<Record<RedactCategory, Detector>> = {
  email: { needs: ['@'], replace: replaceAddresses },
  phone: { needs: ['+'], replace: (text, mask) => text.replace(phone, mask) },
  card: { needs: [], replace: (text, mask) => text.replace(card, (found) => (luhn(found) ? mask(found) : found)) },
  aws_access_key: { needs: ['AKIA', 'ASIA'], replace: (text, mask) => text.replace(accessKey, mask) },
};

/** Looks where an @ is and nowhere else: most text has few, and searching for what may stand before one costs the most. */
function replaceAddresses(text: string, mask: (candidate: string) => string): string {
  let done = '';
  let from = 0;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', Math.max(at + 1, from))) {
    domain.lastIndex = at;
    const end = domain.test(text) ? domain.lastIndex : at;
    const start = localStart(text, Math.max(from, at - longestLocalPart), at);
    if (end === at || start === at) continue;
    done += text.slice(from, start) + mask(text.slice(start, end));
    from = end;
  }
  return from === 0 ? text : done + text.slice(from);
}

/** Where the local part before an @ begins, not below `least`; `at` itself when there is none. */
function localStart(text: string, least: number, at: number): number {
  let start = at;
  while (start > least && localCharacter.test(text.charAt(start - 1))) start -= 1;
  while (start < at && !localFirst.test(text.charAt(start))) start += 1;
  return start;
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

type Counts = Partial<Record<RedactCategory, number>>;

/** How deep JSON inside strings inside JSON is followed; beyond it the text is searched as it stands. */
const maxNesting = 3;

function redactText(text: string, categories: readonly RedactCategory[], counts: Counts, nesting: number): string {
  const inner = nesting < maxNesting ? carriedJson(text) : undefined;
  if (inner !== undefined) {
    const before = total(counts);
    const masked = redactValue(inner, categories, counts, nesting + 1);
    return total(counts) === before ? text : JSON.stringify(masked, null, text.includes('\n') ? 2 : undefined);
  }
  let masked = text;
  for (const category of categories) {
    const { needs, replace } = detectors[category];
    if (needs.length > 0 && !needs.some((part) => masked.includes(part))) continue;
    masked = replace(masked, () => {
      counts[category] = (counts[category] ?? 0) + 1;
      return `[REDACTED:${category}]`;
    });
  }
  return masked;
}

function carriedJson(text: string): Json | undefined {
  const first = text.trimStart().charAt(0);
  if (first !== '{' && first !== '[') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function redactValue(value: Json, categories: readonly RedactCategory[], counts: Counts, nesting: number): Json {
  if (typeof value === 'string') return redactText(value, categories, counts, nesting);
  if (typeof value === 'number') {
    const digits = String(value);
    const masked = redactText(digits, categories, counts, maxNesting);
    return masked === digits ? value : masked;
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => redactValue(item, categories, counts, nesting));
  if (value === null || typeof value === 'boolean') return value;
  const entries = Object.entries(value as JsonObject).map(
    ([key, member]) => [redactText(key, categories, counts, maxNesting), redactValue(member, categories, counts, nesting)] as const,
  );
  return Object.fromEntries(entries);
}

export interface Redacted {
  /** The text given, byte for byte, when nothing was found. */
  readonly json: string;
  /** What was masked how often; empty when nothing was. */
  readonly counts: Readonly<Counts>;
}

/** Masks every finding of `categories` in the JSON text of a result, an error object or a notice as `[REDACTED:<category>]`. */
export function redactJson(json: string, categories: readonly RedactCategory[]): Redacted {
  if (categories.length === 0) return { json, counts: {} };
  const counts: Counts = {};
  const masked = redactValue(JSON.parse(json) as Json, categories, counts, 0);
  return total(counts) === 0 ? { json, counts } : { json: JSON.stringify(masked), counts };
}
