// A text with its backslash escapes resolved, however often it was quoted within quotes, and where each character stood. Lossy on purpose:
// a run of backslashes counts as one, so that all depths of quoting read alike. Knows no JSON structure.

export interface Unescaped {
  readonly text: string;
  /** The span of the original in which these characters stood; escapes are never cut in two. */
  original(start: number, end: number): { readonly start: number; readonly end: number };
  /** The smallest span of the original around this one that cuts no escape in two. */
  whole(start: number, end: number): { readonly start: number; readonly end: number };
}

const simple: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '/': '/' };
const hexCode = /^[0-9a-fA-F]{4}$/;

/** `json`: the text is JSON, in which a quote behind an even number of backslashes ends a string and stays where it is. */
export function unescaped(source: string, json: boolean): Unescaped {
  /** Of each escape: where it stands in the resolved text, where it began and ended in the original. */
  const [at, from, to]: [number[], number[], number[]] = [[], [], []];
  let text = '';
  let copied = 0;
  for (let start = source.indexOf('\\'); start !== -1; start = source.indexOf('\\', copied)) {
    let end = start + 1;
    while (source.charCodeAt(end) === 0x5c) end += 1;
    const next = source.charAt(end);
    let character = '\\';
    if (next === 'u' && hexCode.test(source.slice(end + 1, end + 5))) {
      character = String.fromCharCode(Number.parseInt(source.slice(end + 1, end + 5), 16));
      end += 5;
    } else if (next === '"' && !(json && (end - start) % 2 === 0)) {
      character = '"';
      end += 1;
    } else if (simple[next] !== undefined) {
      character = simple[next];
      end += 1;
    }
    text += source.slice(copied, start);
    at.push(text.length);
    from.push(start);
    to.push(end);
    text += character;
    copied = end;
  }
  text += source.slice(copied);

  /** The last escape that is at this place or before it in `places`; -1 when there is none. */
  function lastUpTo(places: readonly number[], place: number): number {
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  function origin(place: number): { start: number; end: number } {
    const index = lastUpTo(at, place);
    if (index === -1) return { start: place, end: place + 1 };
    const [here, start, end] = [at[index] ?? 0, from[index] ?? 0, to[index] ?? 0];
    return here === place ? { start, end } : { start: end + (place - here - 1), end: end + (place - here) };
  }

  return {
    text,
    original: (start, end) => ({ start: origin(start).start, end: origin(end - 1).end }),
    whole(start, end) {
      const [first, last] = [lastUpTo(from, start), lastUpTo(from, end - 1)];
      return {
        start: first !== -1 && start < (to[first] ?? 0) ? (from[first] ?? start) : start,
        end: last !== -1 && end < (to[last] ?? 0) ? (to[last] ?? end) : end,
      };
    },
  };
}
