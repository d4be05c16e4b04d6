// Which repository git asks about. One spelling of a host is one host: nothing is completed, decoded, resolved or guessed, so that no name
// passes for another one. Knows no policy.
import type { AskedRepository, GitAttributes, GitEntry } from './model.ts';
import { badPath, needsHttps, needsPath, notListed } from './refusals.ts';

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const hostText = new RegExp(`^(?=.{1,253}(?::|$))${label}(?:\\.${label})+(?::[1-9]\\d{0,4})?$`);
const ownerText = /^[a-z0-9](?:[a-z0-9-]{0,37}[a-z0-9])?$/;
const nameText = /^(?!\.{1,2}$)[a-z0-9._-]{1,100}$/;

/** Letters of ASCII only: others have small forms that are letters of ASCII. */
export function small(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export const isHost = (text: string): boolean => hostText.test(text);
export const isOwner = (text: string): boolean => ownerText.test(text);

/**
 * The entry that was made for it, and the repository. Throws `git.not_listed`, `git.needs_https`, `git.needs_path`, `git.bad_path`; a host
 * that nobody entered is told first, as that is all that anybody may learn of it.
 */
export function askedRepository(
  entries: readonly GitEntry[],
  attributes: GitAttributes,
): { entry: GitEntry; asked: AskedRepository } {
  const { protocol = '', path } = attributes;
  const host = small(attributes.host ?? '');
  const atHost = entries.filter((entry) => entry.host === host);
  if (atHost.length === 0) throw notListed(host);
  if (protocol !== 'https') throw needsHttps(protocol);
  if (path === undefined || path === '') throw needsPath(host);
  const { owner, name } = repositoryIn(path) ?? {};
  if (owner === undefined || name === undefined) throw badPath(host);
  const entry = atHost.find((one) => one.owner === owner);
  if (entry === undefined) throw notListed(`${host}/${owner}`);
  return { entry, asked: { host, owner, name } };
}

/** `owner/name`, with the endings that git and its extension for large files put behind it. */
function repositoryIn(path: string): Pick<AskedRepository, 'owner' | 'name'> | undefined {
  const [owner = '', rest = '', ...more] = small(path).split('/');
  if (!['', 'info/lfs', 'info/lfs/'].includes(more.join('/')) || more.length > 3) return undefined;
  const name = rest.endsWith('.git') ? rest.slice(0, -'.git'.length) : rest;
  return isOwner(owner) && nameText.test(name) && !name.endsWith('.git') ? { owner, name } : undefined;
}
