// What GitHub's answers to a request for an installation token mean, in words. Repeats nothing that GitHub wrote: its 422 echoes input.
import type { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { asObject, retryAfterOf, type MintAnswer } from './mint-exchange.ts';
import { refused, unreachable } from './mint-refusals.ts';
import type { AuthOf } from './model.ts';

/** `owner/name` is how people write it; the API wants the name, since the owner is the installation's. */
export const nameAlone = (repository: string): string => repository.slice(repository.lastIndexOf('/') + 1);

const levels = ['read', 'write', 'admin'] as const;

export function answerInWords({ appId, installationId, secretRef }: AuthOf<'github_app'>, answer: MintAnswer): AppError {
  const { status, headers } = answer;
  if (status === 401) {
    const message = `GitHub does not take the app '${appId}' with the key '${secretRef}' (401).`;
    return refused(message, `Check the id of the app and make a new private key; then: sallyport secret rotate ${secretRef}.`);
  }
  if (status === 403 && (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined)) {
    return unreachable('GitHub limits how often this app may ask (403).', retryAfterOf(headers));
  }
  if (status === 403) {
    const message = `GitHub lets the app '${appId}' do nothing for the installation ${installationId} (403): it is suspended, or not allowed this.`;
    return refused(message, 'Look at the app under Settings, Applications of the account that installed it.');
  }
  if (status === 404) {
    const message = `The app '${appId}' has no installation ${installationId} (404).`;
    return refused(message, 'Take the number from the URL of the installation, or install the app again.');
  }
  if (status === 422) {
    const message = `The installation ${installationId} has not all the permissions or repositories that the entry wants (422).`;
    return refused(message, 'Grant them to the app, or take them out of permissions and repositories of the entry.');
  }
  if (status === 201) return unreachable('GitHub answered without a token.');
  return refused(`GitHub answered with ${status}.`, 'Check appId, installationId and apiUrl of the entry.');
}

/**
 * A token that can do more than the entry says is not handed on: then what answered is not what it should be. `metadata: read` comes with
 * every token.
 */
export function widerThanAsked({ permissions, repositories }: AuthOf<'github_app'>, answer: JsonObject): string | undefined {
  const wider = (name: string, level: unknown): boolean => {
    const asked = permissions?.[name] ?? (name === 'metadata' ? 'read' : undefined);
    const rank = levels.indexOf(level as 'read');
    return asked === undefined || rank < 0 || rank > levels.indexOf(asked);
  };
  const granted = Object.entries(asObject(answer['permissions']) ?? {});
  if (permissions !== undefined && granted.some(([name, level]) => wider(name, level))) {
    return 'GitHub answered with a token of more permissions than were asked for.';
  }
  if (repositories === undefined || onlyThese(repositories, answer)) return undefined;
  return 'GitHub answered with a token for other repositories than were asked for.';
}

/** Every listed repository is one that was asked for; where the entry names an owner, that owner's: the API was told the name alone. */
function onlyThese(repositories: readonly string[], answer: JsonObject): boolean {
  const asked = new Set(repositories.map((name) => name.toLowerCase()));
  const listed = answer['repositories'];
  if (answer['repository_selection'] === 'all' || !Array.isArray(listed)) return false;
  return listed.every((entry) => {
    const { name, full_name: fullName } = asObject(entry as Json) ?? {};
    return asked.has(lower(name)) || asked.has(lower(fullName));
  });
}

const lower = (text: unknown): string => (typeof text === 'string' ? text.toLowerCase() : '');
