// Makes and signs a catalogue of the registry, for whoever publishes one: checks every manifest as the gateway will, writes index.json in
// its canonical form with the next version, and index.sig beside it where a key is given. The private key stays where its owner keeps it.
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { manifestSchema, type CatalogueFiles, type Index } from '../src/features/registry/model.ts';
import { hexOf, indexText, readCatalogue, signingText } from '../src/features/registry/verify.ts';
import { createDigest } from '../src/platform/crypto.ts';

const usage = `Usage:
  node scripts/sign-registry.ts keygen KEY.pem            makes a key; prints its public half for registry.key
  node scripts/sign-registry.ts index FOLDER              checks FOLDER/manifests and writes index.json, unsigned (for the package)
  node scripts/sign-registry.ts sign FOLDER --key KEY.pem [--days 90]
                                                          the same, signed, and good for so many days`;

const digest = createDigest();

/** The files of a folder with a fresh index; throws in words where a manifest does not fit. */
export function buildIndex(folder: string, version: number, now: Date, days: number | undefined): CatalogueFiles {
  const manifests: Record<string, string> = {};
  const entries: Index['manifests'] = {};
  for (const file of readdirSync(join(folder, 'manifests')).toSorted()) {
    const text = readFileSync(join(folder, 'manifests', file), 'utf8');
    const parsed = manifestSchema.safeParse(JSON.parse(text));
    if (!parsed.success)
      throw new Error(`${file}: ${parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')}`);
    manifests[`manifests/${file}`] = text;
    entries[parsed.data.name] = { file: `manifests/${file}`, sha256: hexOf(text, digest) };
  }
  const expires = days === undefined ? {} : { expiresAt: new Date(now.getTime() + days * 86_400_000).toISOString() };
  const index = indexText({ schema: 'registry/v1', version, updatedAt: now.toISOString(), ...expires, manifests: entries });
  readCatalogue({ index, manifests }, digest);
  return { index, manifests };
}

/** The line of index.sig. */
export function signIndex(index: string, pem: string): string {
  const signature = sign(null, Buffer.from(signingText(index)), createPrivateKey(pem));
  return `ed25519:${signature.toString('base64')}\n`;
}

/** A new key: PEM of the private half, base64url of the public one. */
export function makeKey(): { readonly pem: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), publicKey: x };
}

function nextVersion(folder: string): number {
  const path = join(folder, 'index.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Index).version + 1 : 1;
}

function main(): number {
  const options = { key: { type: 'string' }, days: { type: 'string' } } as const;
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const [verb, place] = positionals;
  if (place !== undefined && verb === 'keygen') {
    const { pem, publicKey } = makeKey();
    writeFileSync(place, pem, { mode: 0o600, flag: 'wx' });
    console.log(`The private key is in ${place}; keep it offline. For sallyport.yaml:\nregistry:\n  key: ${publicKey}`);
    return 0;
  }
  if (place === undefined || (verb !== 'index' && verb !== 'sign') || (verb === 'sign') !== (values.key !== undefined)) {
    console.error(usage);
    return 2;
  }
  const days = values.key === undefined ? undefined : Number(values.days ?? 90);
  const { index, manifests } = buildIndex(place, nextVersion(place), new Date(), days);
  writeFileSync(join(place, 'index.json'), index);
  if (values.key !== undefined) writeFileSync(join(place, 'index.sig'), signIndex(index, readFileSync(values.key, 'utf8')));
  console.log(`${place}: ${Object.keys(manifests).length} manifests, version ${(JSON.parse(index) as Index).version}`);
  return 0;
}

if (import.meta.main) process.exitCode = main();
