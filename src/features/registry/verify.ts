// Holds the files of a catalogue against its index and the index against a signature, fail-closed: any doubt is no catalogue. The same
// checks for whoever signs. Reads nothing and keeps nothing.
import { AppError } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import type { Digest, Verifier } from '../../kernel/ports.ts';
import { decodeBase64 } from '../../lib/base64.ts';
import { encodeHex } from '../../lib/base64url.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { indexSchema, manifestSchema, type Catalogue, type CatalogueFiles, type Entry, type Index } from './model.ts';

type Sha256 = Pick<Digest, 'sha256'>;

/** What is signed: a line that says what it is, then the bytes of the index. */
export function signingText(index: string): string {
  return `sallyport/registry/v1\n${index}`;
}

/** The one spelling of an index: canonical JSON (RFC 8785) and a line end. A checkout that changed line ends does not pass. */
export function indexText(index: Index): string {
  return `${canonicalJson(index as Json)}\n`;
}

/** Throws `registry.unverified`, with what is wrong in words. `key`: 32 bytes, raw. */
export function assertSigned({ index, signature }: CatalogueFiles, key: Uint8Array, verifier: Verifier): void {
  const [, encoded] = /^ed25519:([A-Za-z0-9+/]{86}==)\s*$/.exec(signature ?? '') ?? [];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  if (bytes === undefined) throw unverified('its signature is missing or malformed');
  if (!verifier.verify(key, new TextEncoder().encode(signingText(index)), bytes))
    throw unverified('its signature is not by the key that this installation trusts');
}

/** Throws `registry.unverified`. */
export function readCatalogue({ index: text, manifests }: CatalogueFiles, digest: Sha256): Catalogue {
  const index = parsed(text, indexSchema, 'the index');
  if (indexText(index) !== text) throw unverified('the index is not in its canonical form');
  const entries = Object.entries(index.manifests).map(([name, { file, sha256 }]): [string, Entry] => {
    const content = manifests[file];
    if (content === undefined) throw unverified(`the manifest of '${name}' is missing`);
    if (hexOf(content, digest) !== sha256) throw unverified(`the manifest of '${name}' is not the one of the index`);
    const manifest = parsed(content, manifestSchema, `the manifest of '${name}'`);
    if (manifest.name !== name) throw unverified(`the manifest of '${name}' is about '${manifest.name}'`);
    return [name, { manifest, sha256 }];
  });
  const { version, updatedAt, expiresAt } = index;
  return { version, updatedAt, expiresAt, digest: hexOf(text, digest), entries: new Map(entries) };
}

export function hexOf(text: string, digest: Sha256): string {
  return encodeHex(digest.sha256(text));
}

interface Schema<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] } };
}

function parsed<T>(text: string, schema: Schema<T>, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unverified(`${what} is no JSON`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw unverified(`${what} does not fit registry/v1: ${issue?.path.map(String).join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}

export function unverified(why: string): AppError {
  return new AppError('denied', 'registry.unverified', `The catalogue could not be verified: ${why}.`, {
    hint: 'Tell whoever publishes it; nothing was changed.',
  });
}
