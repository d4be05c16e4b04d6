// Masks personal data and key ids in what comes back from an upstream, wherever a string stands: text, structured content,
// embedded resources, and JSON carried inside a string. Refuses to know which rule asked for it and what a finding looks like.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { hasDuplicateKeys } from '../../lib/json-text.ts';
import type { RedactCategory } from '../policy/model.ts';
import { detectors } from './detectors.ts';

type Counts = Partial<Record<RedactCategory, number>>;

/** How deep JSON inside strings inside JSON is followed; beyond it the text is searched as it stands. */
const maxNesting = 3;

function redactText(text: string, categories: readonly RedactCategory[], counts: Counts, nesting: number): string {
  const inner = nesting < maxNesting ? carriedJson(text) : undefined;
  if (inner !== undefined) {
    const before = total(counts);
    const masked = redactValue(inner, categories, counts, nesting + 1);
    if (total(counts) !== before) return JSON.stringify(masked, null, text.includes('\n') ? 2 : undefined);
    // A key said twice hides its first value from the parsed reading: such a text is searched as it stands.
    if (!hasDuplicateKeys(text)) return text;
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
  /** The text given, byte for byte, when nothing was found and no key stands in it twice. */
  readonly json: string;
  /** What was masked how often; empty when nothing was. */
  readonly counts: Readonly<Counts>;
}

/**
 * Masks every finding of `categories` in the JSON text of a result, an error object or a notice as `[REDACTED:<category>]`. A text
 * that says a key twice goes on as it was understood: of the two values only the last was looked at. `parsed` is the text as a value, where
 * that was done already.
 */
export function redactJson(json: string, categories: readonly RedactCategory[], parsed?: Json): Redacted {
  if (categories.length === 0) return { json, counts: {} };
  const counts: Counts = {};
  const value = parsed ?? (JSON.parse(json) as Json);
  const masked = redactValue(value, categories, counts, 0);
  const unchanged = total(counts) === 0 && !hasDuplicateKeys(json);
  return unchanged ? { json, counts } : { json: JSON.stringify(masked), counts };
}
