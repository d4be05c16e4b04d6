// What a URI may be a part of: itself and everything it goes on from. Pure text.

/** `a:b/c` → `a:b/c`, `a:b/`, `a:b`: cut before and after each `/`, and before `?` and `#`. The scheme alone is no resource. */
export function plainPrefixes(uri: string): readonly string[] {
  const prefixes = [uri];
  const colon = uri.indexOf(':');
  for (let at = uri.length - 1; at > colon + 1; at -= 1) {
    const character = uri[at];
    if (character === '/' && at + 1 < uri.length) prefixes.push(uri.slice(0, at + 1));
    if (character === '/' || character === '?' || character === '#') prefixes.push(uri.slice(0, at));
    if (prefixes.length > mostPrefixes) break;
  }
  return [...new Set(prefixes)];
}

/** An upstream may write URIs without end. */
const mostPrefixes = 64;
