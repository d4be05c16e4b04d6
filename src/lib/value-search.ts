// Finds known values in texts, in whatever spelling (spellings.ts) and however often quoted, and puts a mask in their place. All are looked
// for in one pass that skips ahead (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994). Knows neither whose they are
// nor what they are for.
import { unescaped } from './escaped-text.ts';
import { maskedJson, type TextSpan } from './masked-spans.ts';
import { spellingsOf, type Spelling } from './spellings.ts';

export interface ValueSearch {
  /** JSON text in, JSON text out; the very same text where nothing was found. */
  maskJson(text: string): string;
  /** The same of any text. `cut`: something may be missing before it, so that it may begin with the rest of a value. */
  maskText(text: string, cut?: boolean): string;
}

interface Needle extends Spelling {
  /** Where this much of it stands, it is taken to be there; the rest is matched as far as it goes. */
  readonly core: string;
}

const longestCore = 64;
/** The rest of a value that was cut off is masked down to this length. */
const shortestRest = 4;
const hashes = 4_096;
const base64Character = /[A-Za-z0-9+/_-]/;
/** Characters that JSON always writes as escapes. */
// oxlint-disable-next-line no-control-regex
const alwaysEscaped = /["\\\u0000-\u001f]/;

/** Escapes that may stand for any character; a search for the two texts would stop at each backslash. */
const hiding = /\\[u/]/;

/** Values are expected to be longer than a few characters: each is masked wherever it stands. */
export function createValueSearch(values: readonly string[], mask: string): ValueSearch {
  const given = values.filter((value) => value !== '');
  if (given.length === 0) return { maskJson: (text) => text, maskText: (text) => text };
  const needles = new Map(given.flatMap(spellingsOf).map((spelling) => [spelling.text, needleOf(spelling)]));
  const scan = scannerOf([...needles.values()]);
  const quoted = given.some((value) => alwaysEscaped.test(value));

  function spansIn(text: string, json: boolean): readonly TextSpan[] {
    const plain = scan(text);
    const escapes = quoted ? text.includes('\\') : hiding.test(text);
    if (plain.length === 0 && !escapes) return none;
    const resolved = unescaped(text, json);
    const spans = plain.map(({ start, end }) => resolved.whole(start, end));
    if (escapes) for (const { start, end } of scan(resolved.text)) spans.push(resolved.original(start, end));
    return united(spans);
  }

  return {
    maskJson(text) {
      const spans = spansIn(text, true);
      return spans.length === 0 ? text : maskedJson(text, spans, mask);
    },
    maskText(text, cut = false) {
      const rest = cut ? restAt(given, text) : 0;
      const spans = spansIn(text, false);
      if (rest === 0 && spans.length === 0) return text;
      let masked = '';
      let from = 0;
      for (const { start, end } of united(rest === 0 ? spans : [{ start: 0, end: rest }, ...spans])) {
        masked += text.slice(from, start) + mask;
        from = end;
      }
      return masked + text.slice(from);
    },
  };
}

const none: readonly TextSpan[] = [];

function needleOf(spelling: Spelling): Needle {
  return { ...spelling, core: spelling.text.slice(0, longestCore) };
}

/** In order, those that touch made one. */
function united(spans: readonly TextSpan[]): readonly TextSpan[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

/** How much of the beginning is the end of some value. */
function restAt(values: readonly string[], text: string): number {
  let longest = 0;
  for (const value of values) {
    for (let length = Math.min(value.length - 1, text.length); length >= Math.max(shortestRest, longest + 1); length -= 1) {
      if (text.startsWith(value.slice(-length))) longest = length;
    }
  }
  return longest;
}

function scannerOf(needles: readonly Needle[]): (text: string) => readonly TextSpan[] {
  const shortest = Math.min(...needles.map(({ core }) => core.length));
  const widest = Math.max(1, shortest - 1);
  /** How far one may skip when these two characters end the window; 0: a needle may stand in it. */
  const skips = new Uint8Array(hashes).fill(widest);
  const ending = new Map<number, Needle[]>();
  for (const needle of needles) {
    for (let place = 1; place < shortest; place += 1) {
      const hash = hashAt(needle.core, place);
      skips[hash] = Math.min(skips[hash] ?? 0, shortest - 1 - place);
    }
    const last = hashAt(needle.core, shortest - 1);
    ending.set(last, [...(ending.get(last) ?? []), needle]);
  }

  return (text) => {
    let spans: { start: number; end: number }[] | undefined;
    /** How far each needle was matched already: its characters are compared a bounded number of times. */
    let covered: Map<Needle, number> | undefined;
    for (let place = shortest - 1; place < text.length;) {
      const skip = skips[hashAt(text, place)] ?? 1;
      if (skip > 0) {
        place += skip;
        continue;
      }
      const start = place - shortest + 1;
      for (const needle of ending.get(hashAt(text, place)) ?? []) {
        if (!text.startsWith(needle.core, start)) continue;
        let end = start + needle.core.length;
        covered ??= new Map();
        if (end > (covered.get(needle) ?? 0)) end = matchedTo(needle, text, start, end);
        if (end > (covered.get(needle) ?? 0)) covered.set(needle, end);
        const found = needle.bleeds ? widened(text, start, end) : { start, end };
        const last = spans?.at(-1);
        if (last === undefined || found.start > last.end) (spans ??= []).push(found);
        else {
          last.start = Math.min(last.start, found.start);
          last.end = Math.max(last.end, found.end);
        }
      }
      place += 1;
    }
    return spans ?? none;
  };
}

function hashAt(text: string, place: number): number {
  return (text.charCodeAt(place - 1) * 67 + text.charCodeAt(place)) & (hashes - 1);
}

function matchedTo({ text: whole }: Needle, text: string, start: number, from: number): number {
  let end = from;
  while (end - start < whole.length && text.charCodeAt(end) === whole.charCodeAt(end - start)) end += 1;
  return end;
}

function widened(text: string, start: number, end: number): { start: number; end: number } {
  const before = start > 0 && base64Character.test(text.charAt(start - 1)) && text.charAt(start - 2) !== '\\';
  return { start: before ? start - 1 : start, end: base64Character.test(text.charAt(end)) ? end + 1 : end };
}
