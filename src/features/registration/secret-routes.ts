// Which secrets go where under an entry, and what changes when one entry takes the place of another: facts for a person, by the names of
// secrets alone.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { refsOf, type AuthConfig } from '../auth/model.ts';
import type { UpstreamSpec } from '../fleet/model.ts';

/** One secret of an entry: to whom it is given, and how. */
export interface SecretRoute {
  readonly secret: string;
  readonly to: string;
  readonly as: string;
}

export function routesOf({ name, transport, auth }: Pick<UpstreamSpec, 'name' | 'transport' | 'auth'>): readonly SecretRoute[] {
  const to = transport.kind === 'http' ? new URL(transport.url).origin : `the program of '${name}'`;
  return refsOf(auth).map((secret) => ({ secret, to, as: mannerOf(secret, auth, transport.kind) }));
}

function mannerOf(secret: string, auth: AuthConfig, kind: 'http' | 'stdio'): string {
  if (auth.type === 'env') {
    const names = Object.entries(auth.env).filter(([, ref]) => ref === secret);
    return `the variable ${names.map(([name]) => name).join(' and ')}`;
  }
  if (auth.type !== 'bearer' && auth.type !== 'oauth2') return `what is minted from it (${auth.type})`;
  const what = auth.type === 'oauth2' ? 'the token that is logged in for' : 'its value';
  if (kind === 'stdio') return `${what}, in a variable`;
  return `${what}, in the header ${auth.header ?? 'Authorization'}, scheme ${auth.scheme ?? 'Bearer'}`;
}

/** Other entries that the same secret is given to already. */
export function alsoGivenTo(secret: string, name: string, others: Iterable<UpstreamSpec>): readonly string[] {
  return [...others].filter((other) => other.name !== name && refsOf(other.auth).includes(secret)).map((other) => other.name);
}

/** Routes of the old entry that the new one does not have. */
export function routesLost(before: readonly SecretRoute[], after: readonly SecretRoute[]): readonly SecretRoute[] {
  const kept = new Set(after.map((route) => canonicalJson({ ...route })));
  return before.filter((route) => !kept.has(canonicalJson({ ...route })));
}

/** By field: what it was and what it becomes; `null` where there was or will be none. Nothing of what stays. */
export function changesOf(before: JsonObject, after: JsonObject): JsonObject {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const pairs = fields.map((field): [string, { was: Json; becomes: Json }] => [
    field,
    { was: before[field] ?? null, becomes: after[field] ?? null },
  ]);
  return Object.fromEntries(pairs.filter(([, { was, becomes }]) => canonicalJson(was) !== canonicalJson(becomes)));
}
