// registry ls: what agents may propose by name.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Registry } from '../registry.ts';

const input = z.strictObject({});
const output = z.array(
  z.strictObject({ name: z.string(), transport: z.string(), secrets: z.string(), description: z.string() }),
);

export function listOperation({ registry }: { readonly registry: Registry }) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'registry.list',
    summary: 'List the well-known upstreams that agents may propose by name.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'registry ls' },
    async run() {
      const { entries } = registry.current().catalogue;
      return [...entries.values()]
        .map(({ manifest: { name, transport, setup, description } }) => ({
          name,
          transport: transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' '),
          secrets: setup?.secrets.map(({ ref }) => ref).join(', ') ?? '',
          description,
        }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
  });
}
