// honeytoken plant: a secret nobody has a use for. Its value is shown once, so that it can lie where only a thief looks.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Clock, Entropy } from '../../../kernel/ports.ts';
import { refName } from '../../vault/model.ts';
import type { VaultKeeping } from '../../vault/vault.ts';
import { decoyValue } from '../decoy-value.ts';
import type { DecoyKeeping } from '../decoys.ts';
import { decisionOf } from '../decision.ts';
import { decoyKinds } from '../model.ts';

const label = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, 'expected a name')
  .optional();
const input = z.strictObject({
  name: z
    .string()
    .regex(refName, 'expected the name of a secret')
    .describe('What it is called in the vault: a name a thief would reach for, such as prod_deploy_key.'),
  kind: z.literal(decoyKinds).default('generic').describe('What its value looks like.'),
  agent: label.describe('For which agent it is laid out; a note for your own list.'),
  upstream: label.describe('Whose secret it pretends to be; a note for your own list.'),
});
type Input = z.infer<typeof input>;
const output = z.strictObject({ honeytoken: z.string(), kind: z.literal(decoyKinds), value: z.string() });

export interface PlantDeps {
  readonly decoys: DecoyKeeping;
  readonly vault: Pick<VaultKeeping, 'state' | 'known' | 'secrets'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

export function plantOperation({ decoys, vault, clock, entropy }: PlantDeps) {
  return defineOperation<Input, z.infer<typeof output>>({
    name: 'defences.plant',
    summary: 'Lay out a honeytoken: an agent that names, reads or uses it is suspended at once.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: {
      words: 'honeytoken plant',
      positionals: ['name'],
      draw: ({ honeytoken, value }: { honeytoken: string; value: string }) =>
        `The honeytoken ${honeytoken} is laid out. Its value, shown this once, for files where only a thief looks:\n${value}`,
    },
    async shown({ name, kind, agent, upstream }) {
      assertPlantable(vault, name);
      return { name, kind, ...(agent !== undefined && { agent }), ...(upstream !== undefined && { upstream }) };
    },
    async run({ name: ref, kind, agent, upstream }, context) {
      assertPlantable(vault, ref);
      const value = decoyValue(kind, entropy);
      const by = decisionOf(context);
      // First known as a decoy, then there to be found: never a secret that is worth nothing and that nobody watches.
      await decoys.plant({ ref, value, kind, agent, upstream, plantedAt: new Date(clock.now()).toISOString() }, by);
      try {
        await vault.secrets.add(ref, new TextEncoder().encode(value), by);
      } catch (thrown) {
        await decoys.takeIn(ref, by);
        throw thrown;
      }
      return { honeytoken: ref, kind, value };
    },
  });
}

function assertPlantable(vault: PlantDeps['vault'], name: string): void {
  const refuse = (why: string, hint: string): never => {
    throw new AppError('invalid', 'defences.bad_decoy', `'${name}' ${why}.`, { hint });
  };
  if (name.length < 6 || !/[_.:\d-]/.test(name))
    refuse('is a word that honest texts use', 'Choose a name of at least six characters with a digit or one of _ . : - in it.');
  if (vault.known(name)) refuse('is in the vault already', 'Choose another name.');
  if (vault.state() === 'absent') refuse('cannot be planted where there is no vault', 'Make one with: sallyport vault init');
  if (vault.state() !== 'open') refuse('cannot be planted while the vault is not open', 'Run: sallyport vault unlock');
}
