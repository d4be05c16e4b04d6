// Whether a URI has one spelling only (RFC 3986, section 6.2.2): two readers that normalise differently must not see two things in it.
// Knows no scheme by name and changes nothing.

/** More than any capability can name; whoever looks at a URI does so as often as there are resources and templates. */
const longest = 2_048;

/** What is wrong with it, to be put after "its URI"; `undefined` when nothing is. In time linear in it. */
export function uriFault(uri: string): string | undefined {
  if (uri.length > longest) return `is longer than ${longest} characters`;
  if (!/^[a-z][a-z0-9+.-]*:/.test(uri)) return 'begins with no scheme in lower case';
  if (uri.includes('\\')) return "holds a '\\'";
  const bare = fullyDecoded(uri);
  if (bare.split(/[/\\?#;:]/).some((segment) => segment === '.' || segment === '..'))
    return "holds a '.' or '..' segment, as it is or percent-encoded";
  if (/%(?![0-9A-F]{2})/.test(uri)) return "holds a '%' that is not followed by two digits 0-9, A-F";
  const needless = uri.match(/%[0-9A-F]{2}/g)?.find((octet) => /[A-Za-z0-9._~-]/.test(decodedOctet(octet)));
  if (needless !== undefined) return `writes '${decodedOctet(needless)}' as ${needless}`;
  return undefined;
}

/** As often as anybody behind might decode it: of what comes out here only a `%` can begin another octet. */
function fullyDecoded(text: string): string {
  return text.replaceAll(/%(?:25)+/g, '%').replaceAll(/%(?:2[ef]|5c|3[abf]|23)/gi, decodedOctet);
}

function decodedOctet(octet: string): string {
  return String.fromCharCode(Number.parseInt(octet.slice(1), 16));
}
