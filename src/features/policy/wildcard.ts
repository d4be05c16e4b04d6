// One part of a capability as a set of texts: literal characters and `*`, which stands for any run. Linear or near-linear string
// work only, nothing is ever expanded or backtracked. Knows no parts, no rules.

export interface Wildcard {
  readonly text: string;
  /** The literal runs between the stars; one entry means there is no star. */
  readonly chunks: readonly string[];
}

export function wildcard(text: string): Wildcard {
  return { text, chunks: text.split('*') };
}

/**
 * Whether every text `inner` stands for is one `outer` stands for. `inner` may hold stars of its own: no literal run of `outer`
 * contains a star, so a star of `inner` can only be swallowed by a star of `outer`. That is exactly inclusion of languages over an
 * alphabet with one character no pattern names: put that character for the inner star and the answer is the same.
 */
export function wildcardCovers(outer: Wildcard, inner: string): boolean {
  const { chunks } = outer;
  const head = chunks[0] ?? '';
  if (chunks.length === 1) return head === inner;
  const tail = chunks[chunks.length - 1] ?? '';
  const end = inner.length - tail.length;
  if (end < head.length || !inner.startsWith(head) || !inner.endsWith(tail)) return false;
  let at = head.length;
  for (let index = 1; index < chunks.length - 1; index += 1) {
    const chunk = chunks[index] ?? '';
    const found = inner.indexOf(chunk, at);
    if (found < 0) return false;
    at = found + chunk.length;
  }
  return at <= end;
}

/**
 * Whether some text belongs to both. With a star on each side only the ends can disagree: the longer head, all middles one after
 * the other and the longer tail make a text of both.
 */
export function wildcardsMeet(one: Wildcard, other: Wildcard): boolean {
  if (one.chunks.length === 1) return wildcardCovers(other, one.text);
  if (other.chunks.length === 1) return wildcardCovers(one, other.text);
  const [headOne, headOther] = [one.chunks[0] ?? '', other.chunks[0] ?? ''];
  const [tailOne, tailOther] = [one.chunks.at(-1) ?? '', other.chunks.at(-1) ?? ''];
  return (
    (headOne.startsWith(headOther) || headOther.startsWith(headOne)) && (tailOne.endsWith(tailOther) || tailOther.endsWith(tailOne))
  );
}
