// The providers that hand out values as they are in the vault: in a header of each request, in the environment of a child. They say how a
// value must look to be carried there, and mint nothing.
import type { CredentialProvider } from './provider.ts';
import { shortestValue, type AuthType } from './model.ts';
import { tooShort, unfitValue } from './refusals.ts';
import { tokenVariable } from './token-places.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** RFC 9110 §5.5, of visible ASCII: a line break would begin another header. */
const headerText = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
// oxlint-disable-next-line no-control-regex
const breaks = /[\r\n\0]/;

const bearerProvider: CredentialProvider<'bearer'> = {
  type: 'bearer',
  mode: 'fallback:injection',
  refs: ({ secretRef }) => [secretRef],
  async obtain({ secretRef, header, scheme }, secrets, { upstream }) {
    const value = textOf(secretRef, secrets);
    if (!headerText.test(value))
      throw unfitValue(secretRef, 'a header takes visible ASCII characters without a line break, and no space at either end');
    const name = (header ?? 'authorization').toLowerCase();
    const prefix = scheme ?? (header === undefined ? 'Bearer' : '');
    return {
      headers: { [name]: prefix === '' ? value : `${prefix} ${value}` },
      env: { [tokenVariable(upstream)]: value },
      secrets: [value],
    };
  },
};

const envProvider: CredentialProvider<'env'> = {
  type: 'env',
  mode: 'fallback:injection',
  refs: ({ env }) => [...new Set(Object.values(env))],
  async obtain({ env }, secrets) {
    const pairs = Object.entries(env).map(([variable, ref]) => [variable, lineOf(ref, secrets)] as const);
    return { headers: {}, env: Object.fromEntries(pairs), secrets: pairs.map(([, value]) => value) };
  },
};

/** Found by their `type`, so that each is given entries of its own only. */
export const injectionProviders = [bearerProvider, envProvider] as unknown as readonly CredentialProvider<AuthType>[];

/** The value of a ref as text. Throws `auth.unfit_value` for one that is too short to be masked. */
function textOf(ref: string, secrets: ReadonlyMap<string, Uint8Array>): string {
  const value = decoder.decode(secrets.get(ref));
  if (value.length < shortestValue) throw tooShort(ref);
  return value;
}

function lineOf(ref: string, secrets: ReadonlyMap<string, Uint8Array>): string {
  const value = textOf(ref, secrets);
  if (breaks.test(value) && !pem.test(value)) throw unfitValue(ref, 'a variable takes one line, save for a key in PEM');
  if (value.includes('\0')) throw unfitValue(ref, 'it holds a NUL character');
  return value;
}

/** RFC 7468: what programs take in a variable though it has several lines. */
const pem = /^-----BEGIN [A-Z0-9 ]+-----\r?\n[\s\S]+-----END [A-Z0-9 ]+-----\s*$/;
