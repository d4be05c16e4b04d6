// Places in a file system as `file:` URIs and absolute paths (RFC 8089), compared as text: by whole segments, after decoding once. Refuses
// every spelling that somebody behind might read as another place, and never looks at a disk: a link is just a name here.

/** The names from the top down; none for the top itself. */
export type Place = readonly string[];

/** More than this is no place anybody meant. */
const longest = 4_096;
// Controls, and the characters that are separators somewhere.
const unreadable = /[\p{Cc}\\/]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/u;

/** `undefined` for what is no `file:` URI of this machine with one reading. */
export function placeOfUri(uri: string): Place | undefined {
  if (uri.length > longest) return undefined;
  const path = /^file:\/\/(?:localhost)?(\/[^?#]*)$/.exec(uri)?.[1];
  return path === undefined ? undefined : placeOf(path, decoded);
}

/** `undefined` for what is no absolute path with one reading. Nothing is decoded: a `%` is a `%`. */
function placeOfPath(path: string): Place | undefined {
  return path.length > longest || !path.startsWith('/') ? undefined : placeOf(path, (name) => name);
}

/** As people write a place: an absolute path or a `file:` URI. */
export function placeNamed(text: string): Place | undefined {
  return text.startsWith('/') ? placeOfPath(text) : placeOfUri(text);
}

export function uriOf(place: Place): string {
  return `file:///${place.map(encodeURIComponent).join('/')}`;
}

/** Is `inner` the same place as `outer`, or somewhere below it? */
export function isWithin(inner: Place, outer: Place): boolean {
  return inner.length >= outer.length && outer.every((name, at) => name === inner[at]);
}

function placeOf(path: string, read: (name: string) => string | undefined): Place | undefined {
  // Two slashes at the start name another machine to some.
  if (path.startsWith('//')) return undefined;
  const place: string[] = [];
  for (const part of path.split('/')) {
    if (part === '') continue;
    const name = read(part);
    if (name === undefined || unreadable.test(name) || isDots(part)) return undefined;
    place.push(name);
  }
  return place;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** `.` and `..`, however often percent-encoded: of what is decoded here only a `%` can begin another octet. */
function isDots(part: string): boolean {
  const bare = part
    .replaceAll(/%(?:25)+/g, '%')
    .replaceAll(/%(?:2e|2f|5c)/gi, (octet) => String.fromCharCode(Number.parseInt(octet.slice(1), 16)));
  return bare.split(/[/\\]/).some((name) => name === '.' || name === '..');
}
