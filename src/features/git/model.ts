// Repositories that git is given a token for: hosts and owners an operator entered, and what git asks about one of them. Pure.
import type { AuthOf } from '../auth/model.ts';

export const accesses = ['read', 'write'] as const;
export type GitAccess = (typeof accesses)[number];

/** One account of one host, and the app that is installed there. `host` and `owner` in small letters; a port is part of the host. */
export interface GitEntry {
  readonly host: string;
  readonly owner: string;
  /** To the contents of a repository. */
  readonly access: GitAccess;
  readonly app: Pick<AuthOf<'github_app'>, 'secretRef' | 'appId' | 'installationId' | 'apiUrl'>;
}

/** What git asks for, in small letters, as GitHub takes both spellings for one. */
export interface AskedRepository {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

/** The attributes that git gives its helpers (git-credential(1)); unknown ones are ignored. */
export interface GitAttributes {
  readonly protocol?: string | undefined;
  readonly host?: string | undefined;
  readonly path?: string | undefined;
  readonly username?: string | undefined;
}

/** The host is part of it: one owner may be somebody else at another host. */
export function capabilityOf({ host, owner, name }: AskedRepository): string {
  return `git:credential:${host}/${owner}/${name}`;
}

export const entryName = ({ host, owner }: Pick<GitEntry, 'host' | 'owner'>): string => `${host}/${owner}`;

/** As it is signed, recorded and listed. */
export function appFacts({ appId, installationId, secretRef, apiUrl }: GitEntry['app']) {
  return {
    app_id: appId,
    installation_id: installationId,
    secret_ref: secretRef,
    ...(apiUrl === undefined ? {} : { api_url: apiUrl }),
  };
}

/** What git is given. GitHub reads no name beside a token, and git wants one. */
export const gitUsername = 'x-access-token';

export const mostEntries = 256;

export type GitErrorCode =
  | 'git.not_listed' // a host, or an owner there, that nobody entered
  | 'git.needs_https'
  | 'git.needs_path' // git was not told to say which repository
  | 'git.bad_path' // no owner/name
  | 'git.bad_entry'
  | 'git.unknown_entry'
  | 'git.entry_exists';
