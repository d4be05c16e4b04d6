// Which scopes a login asks for (MCP authorization, "Scope Selection Strategy"; SEP-2207 for `offline_access`). Pure.
import type { LoginTarget } from './login-target.ts';
import type { AuthorizationServer } from './server-metadata.ts';

export interface ScopeSources {
  readonly target: Pick<LoginTarget, 'scopes' | 'granted' | 'missed'>;
  readonly server: Pick<AuthorizationServer, 'scopes'>;
  /** Of the challenge. */
  readonly challenged: readonly string[] | undefined;
  /** Of the resource's metadata. */
  readonly supported: readonly string[] | undefined;
}

const staysLoggedIn = 'offline_access';

/**
 * What the operator wrote, else what the upstream asks for, else all it knows; and nothing when nobody says. A step up keeps what was
 * granted before. `offline_access`, without which some servers give no refresh token, comes with others and where the server knows it.
 */
export function scopesFor({ target, server, challenged, supported }: ScopeSources): readonly string[] {
  const base = target.scopes ?? challenged ?? supported ?? [];
  const stepUp = target.missed.length === 0 ? [] : [...target.granted, ...target.missed];
  const wanted = [...base, ...stepUp].filter((scope) => scope !== staysLoggedIn);
  // Alone it would be asked for in place of what the server gives by itself.
  const offline = wanted.length > 0 && server.scopes.includes(staysLoggedIn) ? [staysLoggedIn] : [];
  return [...new Set([...wanted, ...offline])];
}
