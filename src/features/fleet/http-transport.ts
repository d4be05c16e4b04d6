// How an upstream over HTTP may be written: which URLs, which headers and which addresses. No secret stands in any; those come from the
// vault, by the names under `auth`. Connects to nothing.
import { z } from 'zod';
import { addressClass } from '../../lib/ip-address.ts';
import { addressings, mayConnect, type Addresses, type HttpTransport } from './model.ts';

export const httpTransport = z.strictObject({
  kind: z.literal('http'),
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()).default({}),
  allow_insecure: z.boolean().default(false),
  addresses: z.enum(addressings, { error: () => `must be one of ${addressings.join(', ')}` }).default('any'),
});

type Checked = { readonly ok: true; readonly transport: HttpTransport } | { readonly ok: false; readonly problem: string };

/** Beginnings of tokens in the field. */
const tokenBeginning = /^(?:sk-|gh[pousr]_|github_pat_|xox[baprs]-|AKIA|AIza|eyJ|glpat-|-----BEGIN)/;
/** Long runs of what tokens are made of (gate contract, scopegate_register_upstream). */
const tokenRun = /[A-Za-z0-9+/_=-]{32,}/;
const secretName = /auth|cookie|token|secret|passw|credential|session|(?:^|[-_])(?:api)?key$|apikey/i;
/** RFC 9110 §5.6.2 and §5.5. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Written by the gateway itself, or about the connection. */
const ours =
  /^(?:mcp-.*|last-event-id|accept|accept-encoding|content-.*|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|origin)$/;

export function looksLikeToken(value: string): boolean {
  return tokenBeginning.test(value);
}

/** `problem` begins with the name of the field that is wrong. */
export function checkHttpTransport({ url: written, headers, allow_insecure, addresses }: z.infer<typeof httpTransport>): Checked {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined) return wrong('url', 'is no absolute URL, such as https://example.org/mcp');
  const problem = urlProblem(url, allow_insecure) ?? addressProblem(url, addresses);
  if (problem !== undefined) return wrong('url', problem);
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerProblem(name, value) ?? (Object.hasOwn(lower, name.toLowerCase()) ? 'is there twice' : undefined);
    if (fault !== undefined) return wrong(`headers.${name}`, fault);
    lower[name.toLowerCase()] = value;
  }
  return { ok: true, transport: { kind: 'http', url: url.href, headers: lower, allow_insecure, addresses } };
}

function urlProblem(url: URL, allowInsecure: boolean): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return `holds a user name or password; ${keepSecret}`;
  if (url.hash !== '') return "must not have a part after '#', which is never sent";
  for (const [name, value] of url.searchParams) {
    if (secretName.test(name) || looksLikeToken(value) || tokenRun.test(value))
      return `has a parameter '${name.slice(0, 32)}' that looks like a secret; ${keepSecret}`;
  }
  if (url.protocol === 'http:' && !allowInsecure && !isLoopback(url.hostname))
    return 'is plain http to another machine: use https, or set allow_insecure: true if the network between is yours alone';
  return undefined;
}

const keepSecret = 'put it into the vault with: sallyport secret add REF, and name that under auth';

/** A name is looked at when it is connected to; an address needs no look. */
function addressProblem({ hostname }: URL, addresses: Addresses): string | undefined {
  const kind = addressClass(hostname.replace(/^\[|\]$/g, ''));
  if (kind === undefined || mayConnect(kind, addresses)) return undefined;
  return `leads to an address that 'addresses: ${addresses}' rules out`;
}

function headerProblem(name: string, value: string): string | undefined {
  const fault = headerNameProblem(name);
  if (fault !== undefined) return fault;
  if (secretName.test(name) || looksLikeToken(value) || tokenRun.test(value)) return `looks like a secret; ${keepSecret}`;
  if (!headerValue.test(value)) return 'must have a value of visible ASCII characters';
  return undefined;
}

/** `localhost`, 127.0.0.0/8 and ::1, as the URL standard writes them. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Of a header that a fixed value or a secret is put into. */
export function headerNameProblem(name: string): string | undefined {
  if (!headerName.test(name)) return 'is no name of a header';
  return ours.test(name.toLowerCase()) ? 'is a header that the gateway writes itself' : undefined;
}

function wrong(field: string, what: string): Checked {
  return { ok: false, problem: `${field} ${what}.` };
}
