// What a person is told of the secrets of an entry before it is accepted: each by its name, and where it will go. Looks at no value.
import { isMinted, refsOf, type AuthConfig } from '../auth/model.ts';
import { isLoopback } from './http-transport.ts';
import type { UpstreamSpec } from './model.ts';

export interface RefKnowledge {
  /** It is in the vault. */
  known(ref: string): boolean;
  /** Accepted upstreams that are given it. */
  boundTo(ref: string): readonly string[];
}

/** A sentence for each place a secret goes to; empty where there is none. */
export function secretFacts(spec: UpstreamSpec, program: string | undefined, refs: RefKnowledge): readonly string[] {
  const { auth, name } = spec;
  const place = placeOf(spec, program);
  return [
    ...goings(auth, spec.transport.kind).map(({ what, where }) => `${what} ${place.verb} ${place.to}${where}${place.how}`),
    ...refsOf(auth).flatMap((ref) => {
      const others = refs.boundTo(ref).filter((other) => other !== name);
      return [
        ...(others.length === 0 ? [] : [`secret '${ref}' is used for ${others.join(', ')} as well`]),
        ...(auth.type === 'oauth2' || refs.known(ref)
          ? []
          : [`secret '${ref}' is not in the vault yet; until it is, nothing starts`]),
      ];
    }),
  ];
}

function placeOf({ transport }: UpstreamSpec, program: string | undefined): { verb: string; to: string; how: string } {
  if (transport.kind === 'stdio') return { verb: 'will be given to', to: program ?? transport.command, how: '' };
  const { origin, protocol, hostname } = new URL(transport.url);
  const open = protocol === 'http:' && !isLoopback(hostname);
  return { verb: 'will be sent to', to: origin, how: open ? ', UNENCRYPTED: whoever is on the way reads it' : '' };
}

/** What goes, and in what. */
function goings(auth: AuthConfig, kind: 'stdio' | 'http'): readonly { what: string; where: string }[] {
  if (auth.type === 'none') return [];
  if (auth.type === 'env')
    return Object.entries(auth.env).map(([variable, ref]) => ({ what: `secret '${ref}'`, where: ` in ${variable}` }));
  const header = auth.type === 'bearer' || auth.type === 'oauth2' ? (auth.header ?? 'authorization').toLowerCase() : undefined;
  const where = kind === 'stdio' || header === undefined ? '' : ` in the header ${header}`;
  if (auth.type === 'bearer') return [{ what: `secret '${auth.secretRef}'`, where }];
  const what = isMinted(auth)
    ? `secret '${auth.secretRef}' stays here; tokens made of it (${auth.type}), each for one agent,`
    : `the login '${auth.secretRef}' stays here; its tokens`;
  return [{ what, where }];
}
