// A URL that an agent proposes: where it may lead, and what a person should know of it before they sign. Judged from the text alone;
// nothing is resolved and nothing is dialled. What names lead to is held against this again at every connection (fleet, `addresses`).
import { addressClass, type AddressClass } from '../../lib/ip-address.ts';
import { printable } from '../../lib/printable.ts';
import type { Addresses } from '../fleet/model.ts';
import { holdsSecret } from './pasted-secrets.ts';

export type JudgedUrl =
  | { readonly ok: false; readonly problem: string }
  | {
      readonly ok: true;
      readonly addresses: Addresses;
      readonly allowInsecure: boolean;
      /** For the person, a sentence each. */
      readonly notes: readonly string[];
    };

/** Names by which clouds serve the credentials of a machine. */
const metadataNames =
  /^(?:metadata|instance-data|metadata\.(?:google|azure|goog|platformequinix|packet|tencentyun)\..+|metadata\.google\.internal|metadata\.goog|.+\.metadata\..+|instance-data\..+|100-100-100-200\..*)$/;
/** Names that only a network of one's own knows. */
const homeNames = /(?:^[^.]+|\.(?:local|internal|intranet|lan|home|corp|private|localdomain|home\.arpa))$/;
const usualPorts: ReadonlySet<string> = new Set(['', '80', '443', '8080', '8443']);

/** `insecureHosts`: those to which the operator allows plain http. The problem follows "'transport.url' ". */
export function judgeUrl(text: string, insecureHosts: readonly string[]): JudgedUrl {
  if (/[\s\\\p{C}]/u.test(text)) return refused('holds a space, a backslash or a character nobody can see');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return refused('is no absolute URL, such as https://example.org/mcp');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('must begin with https://');
  if (url.username !== '' || url.password !== '' || text.split(/[?#]/)[0]?.includes('@') === true)
    return refused("holds a user name or password, or an '@' that looks like one; name a secret under auth instead");
  if (url.hash !== '') return refused("has a part after '#', which is never sent");
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const problem = spellingProblem(hostIn(text), url.hostname) ?? secretProblem(url);
  if (problem !== undefined) return refused(problem);
  const kind = addressClass(host) ?? classOfName(host);
  if (kind === 'metadata' || kind === 'link_local')
    return refused(`leads to ${host}, where machines are given their credentials; no upstream is registered there`);
  if (kind === 'reserved') return refused(`leads to ${host}, which is no address of a server`);
  const loopback = kind === 'loopback';
  const allowed = insecureHosts.includes(host);
  if (url.protocol === 'http:' && !loopback && !allowed)
    return refused('is plain http to another machine; use https, or the operator lists its host under registration.insecure_hosts');
  return {
    ok: true,
    addresses: kind === 'public' ? 'public' : 'local',
    allowInsecure: url.protocol === 'http:' && !loopback,
    notes: notesOn(url, hostIn(text), kind),
  };
}

function refused(problem: string): JudgedUrl {
  return { ok: false, problem };
}

/** The host as it is written, before the URL standard reads it. */
function hostIn(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/*(\[[^\]]*\]|[^:/?#]*)/i.exec(text)?.[1] ?? '';
}

/** One host has one spelling: what a person reads must be what is connected to. */
function spellingProblem(written: string, hostname: string): string | undefined {
  if (hostname.endsWith('.')) return 'has a host that ends in a dot; leave the dot out';
  if (written.includes('%')) return 'has a host with percent-encoding; write it plainly';
  const isAddress = hostname.startsWith('[') || addressClass(hostname) !== undefined;
  if (isAddress && written.toLowerCase() !== hostname) return `has an address in an unusual form; write it as ${hostname}`;
  return undefined;
}

function secretProblem({ pathname, searchParams, hostname }: URL): string | undefined {
  const pieces = [...pathname.split('/'), ...searchParams.values(), ...searchParams.keys(), ...hostname.split('.')];
  const readable = pieces.map((piece) => plain(piece));
  if (readable.some(holdsSecret)) return 'looks like it holds a raw secret; name a secret under auth instead';
  return undefined;
}

function plain(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    return piece;
  }
}

function classOfName(host: string): AddressClass {
  if (metadataNames.test(host)) return 'metadata';
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
  return homeNames.test(host) ? 'private' : 'public';
}

function notesOn({ protocol, port, hostname }: URL, written: string, kind: AddressClass): string[] {
  const notes: string[] = [];
  if (kind === 'loopback') notes.push(`WARNING: ${hostname} is this machine: whatever listens there is reached as this gateway.`);
  if (kind === 'private')
    notes.push(`WARNING: ${hostname} is in a private network: an agent gets to reach what only your network should.`);
  if (protocol === 'http:') notes.push('WARNING: it is not encrypted: whoever is on the way reads and writes along.');
  if (!usualPorts.has(port)) notes.push(`The port ${port} is an unusual one for a server over HTTP.`);
  if (hostname.includes('xn--'))
    notes.push(
      `WARNING: the name holds letters that may look like others: written ${printable(written)}, connected as ${hostname}.`,
    );
  if (kind === 'public')
    notes.push('Its name is looked up at each connection, and addresses that are private or of this machine are refused.');
  return notes;
}
