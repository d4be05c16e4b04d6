// `type: github_app`: an installation token of a GitHub App, narrowed to the permissions and repositories of the entry. The key of the app
// signs one short assertion and goes nowhere.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { CredentialProvider, Obtained } from './auth.ts';
import { compactJws } from './compact-jws.ts';
import { answerInWords, nameAlone, widerThanAsked } from './github-answers.ts';
import { askProvider, bestEffort, tokenText, type MintAnswer, type MintDeps } from './mint-exchange.ts';
import { refused, unusableSecret } from './mint-refusals.ts';
import type { AuthOf } from './model.ts';
import { endOf, tokenPlaces } from './token-places.ts';

const publicApi = 'https://api.github.com';
/** GitHub takes an assertion for ten minutes at most by its own clock; ours may be a minute fast or slow. Seconds. */
const assertionLifeS = 540;
const backdatedS = 60;
/** A clock this far off is told by the answer and corrected once. Milliseconds. */
const tolerableSkewMs = 30_000;
/** GitHub gives every installation token an hour. */
const tokenLifeMs = 3_600_000;
/** A daemon that stops waits for it. */
const revokeWithinMs = 3_000;

type GithubApp = AuthOf<'github_app'>;

export function createGithubApp({
  clock,
  keys,
  http,
}: Pick<MintDeps, 'clock' | 'keys' | 'http'>): CredentialProvider<'github_app'> {
  async function assertion({ appId, secretRef }: GithubApp, pem: string, now: number): Promise<string> {
    const key = keys.read(pem);
    if ('problem' in key) throw unusableSecret(secretRef, key.problem);
    if (key.algorithm !== 'RS256') throw unusableSecret(secretRef, 'is no RSA key, and the keys of GitHub Apps are');
    const seconds = Math.floor(now / 1_000);
    return compactJws(key, { iss: appId, iat: seconds - backdatedS, exp: seconds + assertionLifeS });
  }

  function exchange(auth: GithubApp, token: string, signal: AbortSignal): Promise<MintAnswer> {
    const { permissions, repositories } = auth;
    return askProvider(http, {
      url: `${apiOf(auth)}/app/installations/${encodeURIComponent(auth.installationId)}/access_tokens`,
      method: 'POST',
      headers: { ...apiHeaders(token), 'content-type': 'application/json' },
      body: JSON.stringify({
        ...(permissions === undefined ? {} : { permissions }),
        ...(repositories === undefined ? {} : { repositories: repositories.map(nameAlone) }),
      }),
      signal,
    });
  }

  async function revoke(auth: GithubApp, token: string): Promise<void> {
    const stop = new AbortController();
    const cancel = clock.after(revokeWithinMs, () => stop.abort());
    const request = { url: `${apiOf(auth)}/installation/token`, method: 'DELETE', headers: apiHeaders(token) } as const;
    await bestEffort(() => askProvider(http, { ...request, signal: stop.signal }));
    cancel();
  }

  return {
    type: 'github_app',
    mode: 'minted:github_app',
    refs: ({ secretRef }) => [secretRef],
    async obtain(auth, secrets, { upstream, signal, ttlMs }): Promise<Obtained> {
      const pem = new TextDecoder().decode(secrets.get(auth.secretRef));
      let assertions = [await assertion(auth, pem, clock.now())];
      let answer = await exchange(auth, assertions[0] as string, signal);
      const skew = answer.status === 401 ? skewOf(answer, clock.now()) : undefined;
      if (skew !== undefined) {
        assertions = [...assertions, await assertion(auth, pem, clock.now() + skew)];
        answer = await exchange(auth, assertions[1] as string, signal);
      }
      const token = answer.status === 201 ? tokenText(answer.value?.['token']) : undefined;
      if (token === undefined) throw answerInWords(auth, answer);
      const taken = (): Promise<void> => revoke(auth, token);
      const wider = widerThanAsked(auth, answer.value ?? {});
      if (wider !== undefined) {
        await taken();
        throw refused(wider, 'Check that apiUrl is the API of your GitHub; the token was taken back.');
      }
      const now = clock.now();
      const expiresAt = endOf(now, endIn(answer.value, now), ttlMs);
      return { ...tokenPlaces(upstream, token), expiresAt, secrets: [token, pem, ...assertions], revoke: taken };
    },
  };
}

/** Without its end: the hour that GitHub documents. */
function endIn(answer: JsonObject | undefined, now: number): number {
  const end: Json | undefined = answer?.['expires_at'];
  const instant = typeof end === 'string' ? Date.parse(end) : Number.NaN;
  return Number.isNaN(instant) ? now + tokenLifeMs : Math.min(instant, now + tokenLifeMs);
}

/** How far our clock is behind theirs (RFC 9110 §6.6.1, `Date`), where that is enough to have been the reason. */
function skewOf({ headers }: MintAnswer, now: number): number | undefined {
  const skew = Date.parse(headers['date'] ?? '') - now;
  return Math.abs(skew) > tolerableSkewMs ? skew : undefined;
}

const apiOf = ({ apiUrl }: GithubApp): string => (apiUrl ?? publicApi).replace(/\/+$/, '');

function apiHeaders(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
}
