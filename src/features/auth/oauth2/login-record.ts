// What is kept of a login, as the value of its name in the vault: whose tokens they are, for what, and how they are renewed. A record
// without an access token is a registration that waits for a login, and never taken for one. Pure.
import { z } from 'zod';
import { authMethods, type Client } from './client.ts';
import { otherLogin } from './refusals.ts';
import type { Tokens } from './token-endpoint.ts';

const schema = z.strictObject({
  v: z.literal(1),
  /** The upstream it was made for, and where that is: another origin gets nothing of it. */
  upstream: z.string(),
  origin: z.string().optional(),
  issuer: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string().optional(),
  resource: z.string().optional(),
  client: z.strictObject({
    id: z.string().min(1),
    secret: z.string().min(1).optional(),
    method: z.enum(authMethods),
    kind: z.enum(['by_hand', 'document', 'registered']),
    /** Of a registration: where browsers are sent back to. */
    redirect_uri: z.string().optional(),
  }),
  scopes: z.array(z.string()),
  access_token: z.string().min(1).optional(),
  refresh_token: z.string().min(1).optional(),
  /** Milliseconds since the epoch; absent: the server does not say. */
  expires_at: z.int().optional(),
  obtained_at: z.int(),
});
export type LoginRecord = z.infer<typeof schema>;

/** One that has something to show to the upstream. */
export type LiveLogin = LoginRecord & { readonly access_token: string };

export function isLive(record: LoginRecord): record is LiveLogin {
  return record.access_token !== undefined;
}

/** Bytes for the vault; the caller wipes them. */
export function writeRecord(record: LoginRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

/** Throws `auth.other_login` for bytes that are no record of this version. */
export function readRecord(bytes: Uint8Array): LoginRecord {
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    // What was wrong would quote the bytes.
    throw otherLogin('its record cannot be read');
  }
}

/** The same login with new tokens. Without a new refresh token the old one stays good (RFC 6749 §6). */
export function renewed(record: LoginRecord, tokens: Tokens, now: number): LiveLogin {
  const { access_token: _, expires_at: __, refresh_token: kept, ...rest } = record;
  const refresh = tokens.refreshToken ?? kept;
  return {
    ...rest,
    scopes: [...(tokens.scopes ?? record.scopes)],
    access_token: tokens.accessToken,
    ...(refresh !== undefined && { refresh_token: refresh }),
    ...(tokens.expiresAt !== undefined && { expires_at: tokens.expiresAt }),
    obtained_at: now,
  };
}

/** What stays after a logout: who we are to that server. */
export function withoutTokens(record: LoginRecord): LoginRecord {
  const { access_token: _, refresh_token: __, expires_at: ___, ...rest } = record;
  return { ...rest, scopes: [] };
}

/** Every text of it that is nobody's to see. */
export function secretsIn({ access_token, refresh_token, client }: LoginRecord): readonly string[] {
  return [access_token, refresh_token, client.secret].filter((text) => text !== undefined);
}

export function clientOf({ client }: LoginRecord): Client {
  const { id, secret, method, kind } = client;
  return { id, method, kind, ...(secret !== undefined && { secret }) };
}
