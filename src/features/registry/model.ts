// The nouns of the registry: a manifest says how one well-known upstream is reached, a catalogue is a signed list of them. Pure.
import { z } from 'zod';
import { fetchedPackage } from '../../lib/fetched-package.ts';
import { secretRef } from '../auth/model.ts';

const text = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be one line of characters that can be seen');
const https = z.url({ protocol: /^https$/, error: 'must be an https URL' }).max(2_048);
export const entryName = z.string().regex(/^(?!.*__)[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the name of an upstream');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('bearer'), secretRef, header: text(64).optional(), scheme: z.string().max(64).optional() }),
  z.strictObject({ type: z.literal('oauth2'), secretRef }),
  z.strictObject({ type: z.literal('env'), env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), secretRef) }),
]);

const stdio = z
  .strictObject({ kind: z.literal('stdio'), command: z.enum(['npx', 'uvx', 'docker']), args: z.array(text(512)).max(64) })
  .refine(({ command, args }) => fetchedPackage(command, args)?.version !== undefined, {
    error: 'must pin what it fetches to one exact version (npx -y name@1.2.3, uvx name==1.2.3, docker run … name@sha256:…)',
  });

/** One file of a catalogue, `registry/v1`. Launchers only: what an interpreter would run is in no catalogue (gate digest W15). */
export const manifestSchema = z.strictObject({
  schema: z.literal('registry/v1'),
  name: entryName,
  description: text(500),
  transport: z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('http'), url: https }), stdio]),
  auth,
  docs: https.optional(),
  setup: z.strictObject({ secrets: z.array(z.strictObject({ ref: secretRef, hint: text(500) })).max(16) }).optional(),
  exposeTools: z.array(text(128)).max(512).optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const mostEntries = 1_000;
/** Relative, one folder deep at most, no dots but in the ending: it never leaves the folder of its catalogue. */
const fileName = z.string().regex(/^(?:manifests\/)?[a-z0-9][a-z0-9_-]{0,63}\.json$/, 'must be a plain file name');

export const indexSchema = z.strictObject({
  schema: z.literal('registry/v1'),
  version: z.int().min(1),
  updatedAt: z.iso.datetime(),
  /** From then on nothing is registered from it. */
  expiresAt: z.iso.datetime().optional(),
  manifests: z
    .record(entryName, z.strictObject({ file: fileName, sha256 }))
    .refine((all) => Object.keys(all).length <= mostEntries, `must have at most ${mostEntries} entries`),
});
export type Index = z.infer<typeof indexSchema>;

/** The files of a catalogue as text, from wherever they are. */
export interface CatalogueFiles {
  readonly index: string;
  /** `ed25519:` and base64; absent for the one that comes with the package, whose integrity is the package's. */
  readonly signature?: string;
  /** By the `file` of the index. */
  readonly manifests: Readonly<Record<string, string>>;
}

export interface Entry {
  readonly manifest: Manifest;
  readonly sha256: string;
}

export interface Catalogue {
  readonly version: number;
  readonly updatedAt: string;
  readonly expiresAt: string | undefined;
  /** Hex SHA-256 of the index. */
  readonly digest: string;
  readonly entries: ReadonlyMap<string, Entry>;
}

export type RegistryErrorCode =
  | 'registry.unverified'
  | 'registry.no_source' // nothing but the one of the package
  | 'registry.unreachable'
  | 'registry.not_newer';
