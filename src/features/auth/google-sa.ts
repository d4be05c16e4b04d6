// `type: google_sa`: an access token for a Google service account, by an assertion that its key signs (RFC 7523). The key stays here.
import type { AppError } from '../../kernel/errors.ts';
import type { CredentialProvider, Obtained } from './auth.ts';
import { compactJws } from './compact-jws.ts';
import { askProvider, codeWord, objectIn, tokenText, type MintAnswer, type MintDeps } from './mint-exchange.ts';
import { addSecretAgain, refused, unreachable, unusableSecret } from './mint-refusals.ts';
import type { AuthOf } from './model.ts';
import { endOf, tokenPlaces } from './token-places.ts';

const googleTokenUrl = 'https://oauth2.googleapis.com/token';
/** What key files of Google have under `token_uri`, old and new. */
const googleTokenUrls: ReadonlySet<unknown> = new Set([
  googleTokenUrl,
  'https://accounts.google.com/o/oauth2/token',
  'https://www.googleapis.com/oauth2/v4/token',
]);
/** Google takes an assertion for an hour at most; this one is used at once. Seconds. */
const assertionLifeS = 300;
const tokenLifeMs = 3_600_000;

type GoogleSa = AuthOf<'google_sa'>;

interface KeyFile {
  readonly email: string;
  readonly privateKey: string;
  readonly keyId?: string;
  readonly tokenUrl: string;
}

export function createGoogleSa({ clock, keys, http }: Pick<MintDeps, 'clock' | 'keys' | 'http'>): CredentialProvider<'google_sa'> {
  async function assertion(auth: GoogleSa, file: KeyFile): Promise<string> {
    const key = keys.read(file.privateKey);
    if ('problem' in key) throw unusableSecret(auth.secretRef, `has a private_key that ${key.problem}`);
    const iat = Math.floor(clock.now() / 1_000);
    const claims = { iss: file.email, scope: auth.scopes.join(' '), aud: file.tokenUrl, iat, exp: iat + assertionLifeS };
    return compactJws({ ...key, ...(file.keyId === undefined ? {} : { keyId: file.keyId }) }, claims);
  }

  return {
    type: 'google_sa',
    mode: 'minted:google_sa',
    refs: ({ secretRef }) => [secretRef],
    async obtain(auth, secrets, { upstream, signal, ttlMs }): Promise<Obtained> {
      const given = new TextDecoder().decode(secrets.get(auth.secretRef));
      const file = keyFileIn(auth, given);
      const signed = await assertion(auth, file);
      const answer = await askProvider(http, {
        url: file.tokenUrl,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: signed }).toString(),
        signal,
      });
      if (answer.status !== 200) throw googleRefusal(auth, answer);
      const token = tokenText(answer.value?.['access_token']);
      if (token === undefined) throw unreachable(`${new URL(file.tokenUrl).origin} answered without an access token.`);
      const now = clock.now();
      const expiresAt = endOf(now, now + lifeOf(answer), ttlMs);
      return { ...tokenPlaces(upstream, token), expiresAt, secrets: [token, signed, given, file.privateKey] };
    },
  };
}

/** A key file that names another place to ask is not believed: whoever can write it would be sent assertions. */
function keyFileIn({ secretRef, tokenUrl }: GoogleSa, text: string): KeyFile {
  const fields = objectIn(text);
  if (fields === undefined) throw unusableSecret(secretRef, 'is no JSON; it must be the key file of a service account');
  const { type, client_email: email, private_key: privateKey, private_key_id: keyId, token_uri: named } = fields;
  if (type !== undefined && type !== 'service_account') throw unusableSecret(secretRef, 'is no key file of a service account');
  if (typeof email !== 'string' || typeof privateKey !== 'string') {
    throw unusableSecret(secretRef, 'has no client_email or no private_key; it must be the key file of a service account');
  }
  if (named !== undefined && named !== tokenUrl && !googleTokenUrls.has(named)) {
    const hint = 'Take the key file anew from the Google console, or accept an entry whose tokenUrl is that URL.';
    throw refused(`The secret '${secretRef}' names a token_uri that is neither Google's nor the entry's tokenUrl.`, hint);
  }
  return { email, privateKey, tokenUrl: tokenUrl ?? googleTokenUrl, ...(typeof keyId === 'string' ? { keyId } : {}) };
}

function lifeOf({ value }: MintAnswer): number {
  const seconds = value?.['expires_in'];
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1_000, tokenLifeMs) : tokenLifeMs;
}

/** RFC 6749 §5.2. The description is Google's own text and is not repeated. */
function googleRefusal({ secretRef }: GoogleSa, { status, value }: MintAnswer): AppError {
  const code = codeWord(value?.['error']) ?? String(status);
  if (code === 'invalid_grant') {
    const hint = `Check the clock of this machine and that the key was not deleted; else make a new one and: sallyport secret rotate ${secretRef}.`;
    return refused(`Google does not take the key in '${secretRef}' (invalid_grant).`, hint);
  }
  if (code === 'invalid_scope')
    return refused('Google does not know one of the scopes (invalid_scope).', 'Correct scopes in the entry.');
  if (code === 'unauthorized_client' || code === 'access_denied') {
    return refused(
      `Google lets this service account have none of these scopes (${code}).`,
      'Allow them to it, or correct scopes in the entry.',
    );
  }
  return refused(`Google answered with ${code}.`, addSecretAgain(secretRef));
}
