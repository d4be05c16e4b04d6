// What must not come back from each upstream: the texts it was given, and for a while those it was given before. Keeps them by upstream,
// whatever becomes of its entry: a process that was told a value may still say it. Hands nothing out but searches.
import type { Clock } from '../../kernel/ports.ts';
import { createValueSearch, type ValueSearch } from '../../lib/value-search.ts';
import { previousLifeMs, shortestValue } from './model.ts';

export interface MaskedTexts {
  /** These are given to the upstream now; those of the same `owner` that are not among them any more stay for a day. */
  remember(upstream: string, owner: string, texts: readonly string[]): void;
  /** Nothing is given to this owner any more. */
  release(upstream: string, owner: string): void;
  of(upstream: string): readonly string[];
  /** `undefined` when it was given nothing. The same object until something changes. */
  search(upstream: string): ValueSearch | undefined;
}

export const secretMask = '[REDACTED:secret]';
/** Bounds the search where tokens are minted all day. */
const mostTexts = 512;

interface Masked {
  readonly owners: Set<string>;
  /** Milliseconds since the epoch; counts once it has no owner. */
  until: number;
}

export function createMaskedTexts(clock: Clock): MaskedTexts {
  const books = new Map<string, Map<string, Masked>>();
  const searches = new Map<string, ValueSearch>();

  function release(book: Map<string, Masked>, owner: string, kept: readonly string[]): void {
    for (const [text, masked] of book) {
      if (kept.includes(text) || !masked.owners.delete(owner) || masked.owners.size > 0) continue;
      masked.until = clock.now() + previousLifeMs;
    }
  }

  function prune(book: Map<string, Masked>): void {
    const old = [...book].filter(([, { owners }]) => owners.size === 0);
    for (const [text, { until }] of old) if (until <= clock.now() || book.size > mostTexts) book.delete(text);
  }

  return {
    remember(upstream, owner, texts) {
      const book = books.get(upstream) ?? new Map<string, Masked>();
      books.set(upstream, book);
      const wanted = [...new Set(texts.flatMap(partsOf))];
      for (const text of wanted) {
        const masked = book.get(text) ?? { owners: new Set(), until: 0 };
        // Those given last are forgotten last.
        book.delete(text);
        book.set(text, masked);
        masked.owners.add(owner);
      }
      release(book, owner, wanted);
      prune(book);
      searches.delete(upstream);
    },
    release(upstream, owner) {
      const book = books.get(upstream);
      if (book !== undefined) release(book, owner, []);
    },
    of: (upstream) => [...(books.get(upstream)?.keys() ?? [])],
    search(upstream) {
      const known = searches.get(upstream);
      if (known !== undefined) return known;
      const texts = [...(books.get(upstream)?.keys() ?? [])];
      if (texts.length === 0) return undefined;
      const search = createValueSearch(texts, secretMask);
      searches.set(upstream, search);
      return search;
    },
  };
}

const longLine = 24;

/** A value, and where it has several lines or is JSON the long parts of it, which programs show one by one. */
function partsOf(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).filter((line) => line.length >= longLine && !/[\s-]/.test(line)) : [];
  return [value, value.trim(), ...lines, ...leavesOf(value)].filter((text) => text.length >= shortestValue);
}

function leavesOf(value: string): readonly string[] {
  if (!value.trimStart().startsWith('{')) return [];
  try {
    return stringsIn(JSON.parse(value)).filter((text) => text.length >= longLine);
  } catch {
    return [];
  }
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
