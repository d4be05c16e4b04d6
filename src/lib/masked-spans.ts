// Puts a mask over spans of a JSON text so that it stays JSON: parts of strings are replaced where they stand, a number becomes a string,
// and brackets, commas and quotes are never touched. Knows nothing of what is hidden.

/** `start` inclusive, `end` exclusive; UTF-16 offsets. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

const number = /-?\d[\d.eE+-]*/g;

/** `spans` in order, apart from each other, and no escape cut in two; `mask` needs no escape. */
export function maskedJson(text: string, spans: readonly TextSpan[], mask: string): string {
  let masked = '';
  let copied = 0;
  let next = 0;
  const replace = (start: number, end: number, by: string): void => {
    masked += text.slice(copied, start) + by;
    copied = end;
  };

  for (let at = 0; at < text.length && next < spans.length;) {
    const quote = text.indexOf('"', at);
    const gapEnd = quote === -1 ? text.length : quote;
    if ((spans[next]?.start ?? text.length) < gapEnd) {
      for (const found of text.slice(at, gapEnd).matchAll(number)) {
        const [start, end] = [at + found.index, at + found.index + found[0].length];
        while ((spans[next]?.end ?? text.length) <= start) next += 1;
        if ((spans[next]?.start ?? text.length) < end) replace(start, end, `"${mask}"`);
      }
    }
    if (quote === -1) break;
    const [first, end] = [quote + 1, stringEnd(text, quote)];
    while ((spans[next]?.end ?? text.length) <= first) next += 1;
    for (let index = next; index < spans.length; index += 1) {
      const span = spans[index] as TextSpan;
      if (span.start >= end) break;
      replace(Math.max(span.start, first), Math.min(span.end, end), mask);
    }
    at = end + 1;
    while (next < spans.length && (spans[next]?.end ?? text.length) <= at) next += 1;
  }
  return masked + text.slice(copied);
}

/** Where the quote stands that ends the string which begins at `quote`. */
function stringEnd(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
