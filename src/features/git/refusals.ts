// Why git is given no token, in words and codes. None of them knows one.
import { AppError } from '../../kernel/errors.ts';
import type { GitErrorCode } from './model.ts';

export function refusal(kind: AppError['kind'], code: GitErrorCode, message: string, hint?: string): AppError {
  return new AppError(kind, code, message, hint === undefined ? {} : { hint });
}

export function notListed(host: string): AppError {
  const hint = 'Ask the human to look at: sallyport git ls';
  return refusal('not_found', 'git.not_listed', `'${shown(host)}' is no host whose repositories git is given tokens for.`, hint);
}

export function needsHttps(protocol: string): AppError {
  const hint = 'Use the https URL of the repository: git remote set-url origin https://…';
  return refusal('denied', 'git.needs_https', `A token goes over https only, and git asks for ${shown(protocol)}.`, hint);
}

export function needsPath(host: string): AppError {
  const message = `git does not say which repository of ${host} it wants, and a token is for one.`;
  return refusal('invalid', 'git.needs_path', message, `Run: git config --global credential.https://${host}.useHttpPath true`);
}

export function badPath(host: string): AppError {
  const hint = `The URL of a repository is https://${host}/OWNER/NAME or https://${host}/OWNER/NAME.git.`;
  return refusal('invalid', 'git.bad_path', `git asks for something at ${host} that is no repository.`, hint);
}

export function badEntry(message: string): AppError {
  return refusal('invalid', 'git.bad_entry', message, 'See: sallyport git allow --help');
}

const shown = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 100);
