// An entry of the registry as registration takes it; any doubt about the catalogue is a refusal in the contract's words.
import { AppError, asAppError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Registry } from '../registry/registry.ts';
import type { CatalogueEntry } from './model.ts';

/** Throws `registration.unverified` (gate contract, scopegate_register_upstream). */
export function catalogueEntry(registry: Pick<Registry, 'entry'>, name: string): CatalogueEntry {
  try {
    const { manifest, sha256, version } = registry.entry(name);
    const { description, transport, auth, setup, exposeTools = [] } = manifest;
    const reached = transport.kind === 'http' ? ({ ...transport, addresses: 'public' } as const) : transport;
    const hints = Object.fromEntries(setup?.secrets.map(({ ref, hint }) => [ref, hint]) ?? []);
    return { name, version, sha256, description, transport: reached, auth: { ...auth } as JsonObject, exposeTools, hints };
  } catch (thrown) {
    const error = asAppError(thrown);
    if (error.code !== 'registry.unverified') throw error;
    const why = error.message.replace(/^The catalogue could not be verified: /, '');
    throw new AppError(
      'invalid',
      'registration.unverified',
      `Registry entry '${name}' could not be verified — nothing was registered (fail-closed): ${why}`,
    );
  }
}
