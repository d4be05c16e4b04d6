// What kind of place an IP address is, by the registries of special-purpose addresses (RFC 6890, RFC 4193, RFC 6598) and what clouds keep
// at fixed addresses. An address that carries another one (mapped, NAT64, 6to4) is the kind of the one it carries. Knows no name.

/**
 * `metadata`: where clouds hand out credentials of the machine. `reserved`: an address nobody serves at, or that means this machine in
 * another way (0.0.0.0).
 */
export type AddressClass = 'public' | 'loopback' | 'private' | 'link_local' | 'metadata' | 'reserved';

/** Outside the link-local ranges: Alibaba, Azure, Oracle; AWS and Google over IPv6. */
const metadata: ReadonlySet<string> = new Set([
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '192.0.0.192',
  'fd00:ec2:0:0:0:0:0:254',
  'fd20:ce:0:0:0:0:0:254',
]);

/** `undefined`: no address in its usual form. IPv6 without brackets; a zone (`%eth0`) is left out of account. */
export function addressClass(text: string): AddressClass | undefined {
  const four = octetsOf(text);
  if (four !== undefined) return classOfFour(four);
  const six = groupsOf(text.split('%')[0] ?? '');
  return six === undefined ? undefined : classOfSix(six);
}

function octetsOf(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

function classOfFour(octets: readonly number[]): AddressClass {
  const [a = 0, b = 0, c = 0] = octets;
  if (metadata.has(octets.join('.'))) return 'metadata';
  if (a === 127) return 'loopback';
  if (a === 169 && b === 254) return 'link_local';
  if (a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168)) return 'private';
  // Shared between a provider and its customers.
  if (a === 100 && b >= 64 && b <= 127) return 'private';
  const documents = (a === 192 && b === 0 && c <= 2) || (a === 198 && b === 51 && c === 100) || (a === 203 && b === 0 && c === 113);
  return a === 0 || a >= 224 || documents || (a === 198 && (b === 18 || b === 19)) ? 'reserved' : 'public';
}

function groupsOf(text: string): readonly number[] | undefined {
  const halves = withoutDotted(text)?.split('::');
  if (halves === undefined || halves.length > 2) return undefined;
  const [head = [], tail] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const written = head.length + (tail?.length ?? 0);
  if (tail === undefined ? written !== 8 : written > 7) return undefined;
  const groups = [...head, ...Array.from({ length: 8 - written }, () => '0'), ...(tail ?? [])];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? groups.map((group) => Number.parseInt(group, 16)) : undefined;
}

/** With a dotted end (RFC 4291 §2.2) as two groups. */
function withoutDotted(text: string): string | undefined {
  const [, before, dotted] = /^(.*:)(\d+(?:\.\d+){3})$/.exec(text) ?? [];
  if (before === undefined || dotted === undefined) return text.includes('.') ? undefined : text;
  const [a, b, c, d] = octetsOf(dotted) ?? [];
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  return `${before}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function classOfSix(groups: readonly number[]): AddressClass {
  const [first = 0, second = 0] = groups;
  if (metadata.has(groups.map((group) => group.toString(16)).join(':'))) return 'metadata';
  const carried = carriedFour(groups);
  if (carried !== undefined) return classOfFour(carried);
  if (groups.slice(0, 7).every((group) => group === 0)) return groups[7] === 1 ? 'loopback' : 'reserved';
  if ((first & 0xffc0) === 0xfe80) return 'link_local';
  // Unique local, and the site-local ones it took the place of.
  if ((first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfec0) return 'private';
  if ((first & 0xff00) === 0xff00 || first === 0x100 || (first === 0x2001 && second === 0xdb8)) return 'reserved';
  return 'public';
}

/** IPv4-mapped and -compatible (RFC 4291 §2.5.5), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056). */
function carriedFour(groups: readonly number[]): readonly number[] | undefined {
  const [first, second] = groups;
  const zeros = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  const last = (at: number): number[] => groups.slice(at, at + 2).flatMap((group) => [group >> 8, group & 255]);
  if (zeros(0, 5) && groups[5] === 0xffff) return last(6);
  if (zeros(0, 4) && groups[4] === 0xffff && groups[5] === 0) return last(6);
  if (zeros(0, 6) && (groups[6] !== 0 || (groups[7] ?? 0) > 1)) return last(6);
  if (first === 0x64 && second === 0xff9b) return last(6);
  return first === 0x2002 ? last(1) : undefined;
}
