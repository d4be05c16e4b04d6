// Which URLs of strangers are followed, and where metadata lies (RFC 9728 §3.1, RFC 8414 §3.1, OpenID Connect Discovery §4). Pure.
import { notLedThere } from './refusals.ts';

const local = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** Addresses of private networks as literals; a name cannot be told, and over https it has to prove itself. */
const inner =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|0\.)|^\[(?:::|f[cd]|fe[89ab])|\.(?:local|internal|localhost)$/i;

/** An URL that `from` names: https, or plain http within this machine; and nobody outside leads to what is inside. Throws `auth.url_refused`. */
export function ledTo(from: string, to: string): string {
  const [source, target] = [URL.parse(from), URL.parse(to)];
  if (source === null || target === null || target.username !== '' || target.password !== '' || target.hash !== '') {
    throw notLedThere(from, to);
  }
  const isLocal = local.test(target.hostname);
  const secure = target.protocol === 'https:' || (target.protocol === 'http:' && isLocal);
  const hidden = isLocal || inner.test(target.hostname);
  if (!secure || (hidden && !local.test(source.hostname) && !inner.test(source.hostname))) throw notLedThere(from, to);
  return to;
}

/** Where the metadata of a resource lies: with its path inserted, then at the root. */
export function resourceMetadataUrls(url: string): readonly string[] {
  const { origin, pathname, search } = new URL(url);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return pathname === '/' ? [root] : [`${root}${withoutEnd(pathname)}${search}`, root];
}

/** Where the metadata of an authorization server lies, the most usual place first. */
export function serverMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = withoutEnd(pathname);
  const [oauth, openid] = [`${origin}/.well-known/oauth-authorization-server`, `${origin}/.well-known/openid-configuration`];
  if (path === '') return [oauth, openid];
  return [`${oauth}${path}`, `${openid}${path}`, `${origin}${path}/.well-known/openid-configuration`];
}

/** RFC 9728 §3.3: the resource is the URL itself, or (for the metadata at a root) the origin or a folder above it. */
export function resourceCovers(resource: string, url: string): boolean {
  const [covering, covered] = [URL.parse(resource), URL.parse(url)];
  if (covering === null || covered === null || covering.hash !== '' || covering.origin !== covered.origin) return false;
  if (covering.username !== '' || covering.password !== '') return false;
  if (covering.search !== '' && covering.search !== covered.search) return false;
  const [above, below] = [withoutEnd(covering.pathname), withoutEnd(covered.pathname)];
  return below === above || below.startsWith(`${above}/`);
}

function withoutEnd(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
