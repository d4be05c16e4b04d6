// The face of the registry: manifests of well-known upstreams that agents may propose by name. The catalogue of the package is as whole as
// the package; one from elsewhere is in force only under the configured key, newer than any before it, and taken over by the operator.
import type { Database } from '../../kernel/database.ts';
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Clock, Digest, Verifier } from '../../kernel/ports.ts';
import { decodeBase64url } from '../../lib/base64url.ts';
import type { Audit } from '../audit/audit.ts';
import type { Catalogue, CatalogueFiles, Entry } from './model.ts';
import type { RegistrySource } from './source.ts';
import { readAdopted, writeAdopted } from './store.ts';
import { assertSigned, readCatalogue, unverified } from './verify.ts';

export interface InForce {
  readonly catalogue: Catalogue;
  readonly from: 'package' | 'signed';
}

export interface Candidate {
  readonly catalogue: Catalogue;
  readonly files: CatalogueFiles;
  readonly source: string;
  /** Base64url. */
  readonly key: string;
}

export interface Registry {
  /** Throws `registry.unverified` when what is in force does not hold, or is out of date: then nothing is. */
  current(): InForce;
  /** An entry of what is in force, with the version it stands in; throws `registry.unverified`. */
  entry(name: string): Entry & { readonly version: number };
  /** What the configured source has now, verified and newer; throws `registry.no_source`, `registry.not_newer` and the source's. */
  candidate(signal: AbortSignal): Promise<Candidate>;
  /** Puts it in force, recorded. */
  adopt(candidate: Candidate, proof: JsonObject): Promise<void>;
}

export interface RegistryDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly verifier: Verifier;
  readonly bundled: CatalogueFiles;
  /** Where else a catalogue may come from, and the key it is signed with. */
  readonly elsewhere?: { readonly source: RegistrySource; readonly key: string };
}

export async function createRegistry(deps: RegistryDeps): Promise<Registry> {
  const { db, audit, clock, digest, verifier, bundled, elsewhere } = deps;
  let ofPackage: Catalogue | undefined;
  let adopted = elsewhere === undefined ? undefined : await stored(elsewhere.key);

  function verified(files: CatalogueFiles, key: string): Catalogue {
    const raw = decodeBase64url(key);
    if (raw?.length !== 32) throw unverified('registry.key in sallyport.yaml is no public key');
    assertSigned(files, raw, verifier);
    return readCatalogue(files, digest);
  }

  /** A row that does not hold any more is a reason to refuse, not to fall back. */
  async function stored(key: string): Promise<(() => Catalogue) | undefined> {
    const row = await readAdopted(db.queries, key);
    if (row === undefined) return undefined;
    try {
      const catalogue = verified(row.files, key);
      return () => catalogue;
    } catch (thrown) {
      return () => {
        throw asAppError(thrown);
      };
    }
  }

  function current(): InForce {
    if (adopted === undefined) return { catalogue: (ofPackage ??= readCatalogue(bundled, digest)), from: 'package' };
    const catalogue = adopted();
    assertInTime(catalogue);
    return { catalogue, from: 'signed' };
  }

  function assertInTime({ expiresAt }: Catalogue): void {
    if (expiresAt !== undefined && Date.parse(expiresAt) <= clock.now())
      throw unverified(`it was good until ${expiresAt}; a human has to run: sallyport registry update`);
  }

  return {
    current,

    entry(name) {
      const { catalogue } = current();
      const entry = catalogue.entries.get(name);
      if (entry === undefined) throw unverified(`there is no entry '${name}' in it`);
      return { ...entry, version: catalogue.version };
    },

    async candidate(signal) {
      if (elsewhere === undefined) throw noSource();
      const { source, key } = elsewhere;
      const files = await source.read(signal);
      const catalogue = verified(files, key);
      assertInTime(catalogue);
      const mark = (await readAdopted(db.queries, key))?.version ?? 0;
      if (catalogue.version <= mark) throw notNewer(catalogue.version, mark);
      return { catalogue, files, source: source.name, key };
    },

    async adopt({ catalogue, files, key }, proof) {
      const { version, digest: of } = catalogue;
      const adoptedAt = new Date(clock.now()).toISOString();
      await audit.commit(
        async (tx) => {
          const row = { publicKey: key, version, digest: of, files, adoptedAt, proof: JSON.stringify(proof) };
          if (!(await writeAdopted(tx, row))) throw notNewer(version, version);
          const facts = { version, digest: of, key, entries: catalogue.entries.size, proof };
          return { value: undefined, entries: [{ event: 'registry.updated', actor: 'operator', facts }] };
        },
        { decision: true },
      );
      adopted = () => catalogue;
    },
  };
}

function noSource(): AppError {
  return new AppError('invalid', 'registry.no_source', 'No catalogue is configured besides the one of this version of the gateway.', {
    hint: 'Set registry.path or registry.url, and registry.key, in sallyport.yaml, then restart; or update the gateway itself.',
  });
}

function notNewer(version: number, mark: number): AppError {
  return new AppError('denied', 'registry.not_newer', `The catalogue has version ${version}, and ${mark} was in force already.`, {
    hint: 'Older catalogues are never taken again: they may hold what was withdrawn since.',
  });
}
