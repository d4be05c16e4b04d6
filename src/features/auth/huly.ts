// `type: huly`: a login at the accounts of a Huly, then its workspace, over their JSON-RPC. The password goes there and nowhere else.
import type { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { CredentialProvider, Obtained } from './auth.ts';
import { expiryOf } from './compact-jws.ts';
import { asObject, askProvider, objectIn, tokenText, type MintAnswer, type MintDeps } from './mint-exchange.ts';
import { refused, unreachable, unusableSecret } from './mint-refusals.ts';
import type { AuthOf } from './model.ts';
import { endOf, tokenPlaces } from './token-places.ts';

/** Huly's tokens mostly say no end; none is used longer. Milliseconds. */
const longestLifeMs = 12 * 3_600_000;

type Huly = AuthOf<'huly'>;
/** JSON has none of its own to pass on. */
type Params = Readonly<Record<string, Json>>;

export function createHuly({ clock, http }: Pick<MintDeps, 'clock' | 'http'>): CredentialProvider<'huly'> {
  async function call(auth: Huly, signal: AbortSignal, method: string, params: Params, token?: string): Promise<string> {
    const answer = await askProvider(http, {
      url: auth.accountsUrl,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ method, params }),
      signal,
    });
    const result = asObject(answer.value?.['result']);
    const error = asObject(answer.value?.['error']);
    if (error !== undefined || answer.status !== 200) throw hulyRefusal(auth, answer, error);
    const given = tokenText(result?.['token']);
    if (given !== undefined) return given;
    const what = `${new URL(auth.accountsUrl).origin} gave no token for ${method}.`;
    // An account whose address nobody confirmed is logged in without one.
    if (result !== undefined)
      throw refused(what, 'Confirm the e-mail address of the account, and that it is a member of the workspace.');
    throw unreachable(what);
  }

  return {
    type: 'huly',
    mode: 'minted:huly',
    refs: ({ secretRef }) => [secretRef],
    async obtain(auth, secrets, { upstream, signal, ttlMs }): Promise<Obtained> {
      const given = new TextDecoder().decode(secrets.get(auth.secretRef));
      const login = loginIn(auth, given);
      const account = await call(auth, signal, 'login', { ...login });
      const workspace = { workspaceUrl: auth.workspace ?? '', kind: 'external', externalRegions: [] };
      const token = auth.workspace === undefined ? account : await call(auth, signal, 'selectWorkspace', workspace, account);
      const now = clock.now();
      const end = Math.min(expiryOf(token) ?? Number.POSITIVE_INFINITY, now + longestLifeMs);
      if (end <= now) throw unreachable(`${new URL(auth.accountsUrl).origin} gave a token whose time is over.`);
      return {
        ...tokenPlaces(upstream, token),
        expiresAt: endOf(now, end, ttlMs),
        secrets: [token, account, login.password, given],
      };
    },
  };
}

/** `{"email": …, "password": …}`, or both with a colon between; a password may hold colons. */
function loginIn({ secretRef }: Huly, text: string): { email: string; password: string } {
  const trimmed = text.trim();
  const colon = trimmed.indexOf(':');
  const json = trimmed.startsWith('{') ? (objectIn(trimmed) ?? {}) : undefined;
  const email = json === undefined ? trimmed.slice(0, Math.max(0, colon)) : json['email'];
  const password = json === undefined ? trimmed.slice(colon + 1) : json['password'];
  if (typeof email === 'string' && typeof password === 'string' && email !== '' && password !== '') return { email, password };
  throw unusableSecret(secretRef, 'is no login; it must be {"email": …, "password": …}');
}

const badLogin = new Set(['AccountNotFound', 'Unauthorized', 'InvalidPassword', 'PasswordValidationFailed', 'Forbidden']);

/** A status of Huly's platform (`platform:status:AccountNotFound`). */
function hulyRefusal({ secretRef, accountsUrl, workspace }: Huly, { status }: MintAnswer, error: JsonObject | undefined): AppError {
  const named = error?.['code'];
  const code = (typeof named === 'string' ? /^platform[:.]status[:.](\w{1,48})$/.exec(named)?.[1] : undefined) ?? String(status);
  const said = `${new URL(accountsUrl).origin} answered ${code}`;
  if (badLogin.has(code) || status === 401 || status === 403) {
    return refused(
      `${said}: it does not take the login '${secretRef}'.`,
      `Check it and give it again with: sallyport secret rotate ${secretRef}.`,
    );
  }
  if (code === 'WorkspaceNotFound')
    return refused(`${said}: there is no workspace '${workspace ?? ''}' for it.`, 'Correct workspace in the entry.');
  if (code === 'InternalServerError') return unreachable(`${said}.`);
  return refused(`${said}.`, 'Check accountsUrl: it is the ACCOUNTS_URL in the config.json of your Huly.');
}
