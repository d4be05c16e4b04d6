// registry show: one manifest whole, and whose word it is.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { manifestSchema } from '../model.ts';
import type { Registry } from '../registry.ts';

const input = z.strictObject({ name: z.string().describe('An entry of the catalogue.') });
const output = z.strictObject({
  catalogue: z.enum(['package', 'signed']),
  version: z.int(),
  updated_at: z.string(),
  manifest_sha256: z.string(),
  manifest: manifestSchema,
});
type Output = z.infer<typeof output>;

function draw({ catalogue, version, updated_at: updatedAt, manifest_sha256: sha256, manifest }: Output): string {
  const whose = catalogue === 'package' ? 'comes with this version of the gateway' : 'signed with the configured key';
  return `Version ${version} of ${updatedAt}, ${whose}; manifest ${sha256}\n${JSON.stringify(manifest, undefined, 2)}`;
}

export function showOperation({ registry }: { readonly registry: Registry }) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'registry.show',
    summary: 'Show one entry of the catalogue whole.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'registry show', positionals: ['name'], draw },
    async run({ name }) {
      const { from, catalogue } = registry.current();
      const { manifest, sha256, version } = registry.entry(name);
      return { catalogue: from, version, updated_at: catalogue.updatedAt, manifest_sha256: sha256, manifest };
    },
  });
}
