// Many texts looked for at once, in one pass over the other text whatever they are (Aho and Corasick, 1975), as a table of states. The
// patterns are ASCII; knows nothing of what they mean.

export interface MultiPattern {
  /** The pattern that ends first in the text, by its place in the list; `undefined`: none is in it. */
  firstIn(text: string): number | undefined;
}

const ascii = 128;

/** Throws RangeError for a pattern that is empty or not ASCII. */
export function createMultiPattern(patterns: readonly string[]): MultiPattern {
  // Characters that stand in no pattern share column 0, which leads back to the start.
  const columns = new Uint8Array(ascii);
  let width = 1;
  for (const pattern of patterns) {
    if (pattern === '') throw new RangeError('a pattern is empty');
    for (let at = 0; at < pattern.length; at += 1) {
      const code = pattern.charCodeAt(at);
      if (code >= ascii) throw new RangeError('a pattern is not ASCII');
      if (columns[code] === 0) columns[code] = width++;
    }
  }
  const most = 1 + patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  const next = new Int32Array(most * width);
  /** Pattern that ends in a state, one based; 0: none. */
  const ends = new Int32Array(most);
  let states = 1;
  const step = (state: number, column: number): number => next[state * width + column] ?? 0;

  for (const [index, pattern] of patterns.entries()) {
    let state = 0;
    for (let at = 0; at < pattern.length; at += 1) {
      const place = state * width + (columns[pattern.charCodeAt(at)] ?? 0);
      if (next[place] === 0) next[place] = states++;
      state = next[place] ?? 0;
    }
    ends[state] ||= index + 1;
  }

  // Breadth first: where a state has no way of its own, it goes on as the longest end of it that begins a pattern does.
  const fallback = new Int32Array(states);
  const queue: number[] = [];
  for (let column = 1; column < width; column += 1) if (step(0, column) !== 0) queue.push(step(0, column));
  for (let head = 0; head < queue.length; head += 1) {
    const state = queue[head] ?? 0;
    const behind = fallback[state] ?? 0;
    ends[state] ||= ends[behind] ?? 0;
    for (let column = 1; column < width; column += 1) {
      const child = step(state, column);
      if (child === 0) next[state * width + column] = step(behind, column);
      else {
        fallback[child] = step(behind, column);
        queue.push(child);
      }
    }
  }

  return {
    firstIn(text) {
      let state = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        state = code < ascii ? (next[state * width + (columns[code] ?? 0)] ?? 0) : 0;
        const found = ends[state] ?? 0;
        if (found !== 0) return found - 1;
      }
      return undefined;
    },
  };
}
