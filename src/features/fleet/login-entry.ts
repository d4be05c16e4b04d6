// What an entry's `auth` may say beside its transport: a header needs a request, a variable needs a program. Looks at no secret.
import { isMinted, type AuthConfig } from '../auth/model.ts';
import { mayPassThrough } from './environment.ts';
import { headerNameProblem } from './http-transport.ts';
import type { UpstreamSpec } from './model.ts';

/** RFC 9110 §11.1: the name of a scheme. */
const scheme = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/** What loads code into a program before it runs, or says which program runs: no secret stands in these. */
const steering = /^(?:PATH|NODE_OPTIONS|BASH_ENV|ENV|PYTHON\w*|PERL5\w*|RUBY\w*|JAVA_TOOL_OPTIONS|LD_\w+|DYLD_\w+)$/;

type Entry = Pick<UpstreamSpec, 'sharing' | 'env' | 'envPassthrough'> & {
  readonly auth: AuthConfig;
  readonly transport: { readonly kind: 'stdio' } | { readonly kind: 'http'; readonly headers: Readonly<Record<string, string>> };
};

/** Follows the place of `auth` in a sentence. */
export function loginProblem({ auth, transport, sharing, env, envPassthrough }: Entry): string | undefined {
  const { kind } = transport;
  if (isMinted(auth) && kind === 'stdio' && sharing === 'shared')
    return ': a token that is minted for one agent may serve no other: set sharing to agent or session.';
  if (auth.type === 'aws_sts' && kind === 'http')
    return ': keys of AWS are variables of a program that is started here; an upstream over HTTP signs nothing with them.';
  if (auth.type === 'env') {
    if (kind === 'http') return ': variables are for programs that are started here; over HTTP use bearer.';
    const variables = Object.keys(auth.env);
    if (variables.length === 0) return '.env names no variable.';
    const bad = variables.find((name) => steering.test(name) || !mayPassThrough(name));
    if (bad !== undefined) return `.env.${bad} is a variable that steers programs and is given no secret.`;
    const twice = variables.find((name) => Object.hasOwn(env, name) || envPassthrough.includes(name));
    if (twice !== undefined) return `.env.${twice} is set under env or envPassthrough as well.`;
  }
  const fixed = transport.kind === 'http' ? Object.keys(transport.headers).map((name) => name.toLowerCase()) : [];
  if (isMinted(auth) && fixed.includes('authorization'))
    return ': the token goes where transport.headers sets Authorization as well.';
  if (auth.type !== 'bearer' && auth.type !== 'oauth2') return undefined;
  const { header, scheme: word } = auth;
  if (header !== undefined && kind === 'stdio')
    return '.header is for upstreams over HTTP; a program gets the value in a variable.';
  const fault = header === undefined ? undefined : headerNameProblem(header);
  if (fault !== undefined) return `.header ${fault}.`;
  if (fixed.includes((header ?? 'authorization').toLowerCase())) return '.header is set under transport.headers as well.';
  return word === undefined || word === '' || scheme.test(word) ? undefined : '.scheme must be one word, such as Bearer.';
}
