// An account as people write it: `github.com/acme`. One spelling each, letters in either size.
import { isHost, isOwner, small } from './asked-repository.ts';
import type { GitEntry } from './model.ts';
import { badEntry } from './refusals.ts';

/** Throws `git.bad_entry`. */
export function accountIn(text: string): Pick<GitEntry, 'host' | 'owner'> {
  const [host = '', owner = '', ...more] = small(text).split('/');
  if (more.length > 0 || !isHost(host) || !isOwner(owner)) {
    throw badEntry(`'${text.slice(0, 100)}' is no account; write its host and its name, such as github.com/acme.`);
  }
  return { host, owner };
}
