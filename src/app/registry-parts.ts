// The registry as the settings have it: the catalogue of the package, and where another one may come from.
import { readdirSync, readFileSync } from 'node:fs';
import type { CatalogueFiles } from '../features/registry/model.ts';
import { createRegistry, type Registry, type RegistryDeps } from '../features/registry/registry.ts';
import { createSource, type RegistrySettings } from '../features/registry/source.ts';
import type { Files } from '../kernel/ports.ts';
import { createTokenHttp } from '../platform/token-http.ts';
import { packageFile } from './package-files.ts';

type Deps = Omit<RegistryDeps, 'bundled' | 'elsewhere'> & { readonly files: Files };

export function openRegistry(deps: Deps, settings: RegistrySettings | undefined): Promise<Registry> {
  const bundled = bundledCatalogue();
  if (settings === undefined) return createRegistry({ ...deps, bundled });
  const source = createSource(settings, { files: deps.files, http: createTokenHttp() });
  return createRegistry({ ...deps, bundled, elsewhere: { source, key: settings.key } });
}

/** As it was packed; its hashes are checked like those of every other one. */
export function bundledCatalogue(): CatalogueFiles {
  const names = readdirSync(packageFile('registry/manifests'));
  const manifests = names.map((name) => [`manifests/${name}`, readFileSync(packageFile(`registry/manifests/${name}`), 'utf8')]);
  return { index: readFileSync(packageFile('registry/index.json'), 'utf8'), manifests: Object.fromEntries(manifests) };
}
