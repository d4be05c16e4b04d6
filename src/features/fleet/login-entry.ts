// What an entry's `auth` may say beside its transport: a header needs a request, a variable needs a program. Looks at no secret.
import { isMinted, type AuthConfig } from '../auth/model.ts';
import { headerNameProblem } from './http-transport.ts';
import type { UpstreamSpec } from './model.ts';

/** RFC 9110 §11.1: the name of a scheme. */
const scheme = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/** Follows the place of `auth` in a sentence. */
export function loginProblem(
  auth: AuthConfig,
  kind: UpstreamSpec['transport']['kind'],
  sharing: UpstreamSpec['sharing'],
): string | undefined {
  if (isMinted(auth) && kind === 'stdio' && sharing === 'shared')
    return ': a token that is minted for one agent may serve no other: set sharing to agent or session.';
  if (auth.type === 'aws_sts' && kind === 'http')
    return ': keys of AWS are variables of a program that is started here; an upstream over HTTP signs nothing with them.';
  if (auth.type === 'env') {
    if (kind === 'http') return ': variables are for programs that are started here; over HTTP use bearer.';
    if (Object.keys(auth.env).length === 0) return '.env names no variable.';
  }
  if (auth.type !== 'bearer' && auth.type !== 'oauth2') return undefined;
  const { header, scheme: word } = auth;
  if (header !== undefined && kind === 'stdio')
    return '.header is for upstreams over HTTP; a program gets the value in a variable.';
  const fault = header === undefined ? undefined : headerNameProblem(header);
  if (fault !== undefined) return `.header ${fault}.`;
  return word === undefined || word === '' || scheme.test(word) ? undefined : '.scheme must be one word, such as Bearer.';
}
