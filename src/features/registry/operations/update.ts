// registry update: takes over the catalogue of the configured source. What agents may propose by name comes from it, so it is a decision.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Candidate, Registry } from '../registry.ts';

const input = z.strictObject({});
const output = z.strictObject({ version: z.int(), entries: z.int() });
type Input = z.infer<typeof input>;

export function updateOperation({ registry }: { readonly registry: Registry }) {
  /** What was shown for the very same input is what is taken over. */
  const candidates = new WeakMap<Input, Candidate>();
  return defineOperation<Input, z.infer<typeof output>>({
    name: 'registry.update',
    summary: 'Take over the signed catalogue of the configured source.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'registry update',
      draw: ({ version, entries }: z.infer<typeof output>) => `Version ${version} of the catalogue is in force, with ${entries} entries.`,
    },
    async shown(given, { signal }) {
      const candidate = await registry.candidate(signal);
      candidates.set(given, candidate);
      const { catalogue, source, key } = candidate;
      return {
        source,
        signed_with: key,
        version: catalogue.version,
        updated_at: catalogue.updatedAt,
        expires_at: catalogue.expiresAt ?? 'never',
        index_sha256: catalogue.digest,
        ...differences(registry, candidate),
      };
    },
    async run(given, { proofFacts = {} }) {
      const candidate = candidates.get(given);
      if (candidate === undefined) throw new AppError('conflict', 'registry.not_newer', 'Nothing was shown for this decision.');
      await registry.adopt(candidate, proofFacts);
      const { version, entries } = candidate.catalogue;
      return { version, entries: entries.size };
    },
  });
}

function differences(registry: Registry, { catalogue }: Candidate): { added: string[]; changed: string[]; gone: string[] } {
  const before = entriesNow(registry);
  const names = [...catalogue.entries.keys()].toSorted();
  const digestOf = (name: string): string | undefined => before.get(name)?.sha256;
  return {
    added: names.filter((name) => digestOf(name) === undefined),
    changed: names.filter((name) => digestOf(name) !== undefined && digestOf(name) !== catalogue.entries.get(name)?.sha256),
    gone: [...before.keys()].filter((name) => !catalogue.entries.has(name)).toSorted(),
  };
}

/** None where what is in force does not hold: mending that is what an update may be for. */
function entriesNow(registry: Registry): Candidate['catalogue']['entries'] {
  try {
    return registry.current().catalogue.entries;
  } catch {
    return new Map();
  }
}
