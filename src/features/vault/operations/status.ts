// vault status: whether secrets can be used now, what opens the vault, and what a careful owner would do next.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { isStartKind, slotWords, startKinds } from '../model.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';
import { slotAnswer, slotOutput } from '../slot-input.ts';
import type { VaultKeeping } from '../vault.ts';

const input = z.strictObject({});
const output = z.strictObject({
  state: z.enum(['absent', 'locked', 'open', 'damaged']),
  secrets: z.int(),
  slots: z.array(slotOutput),
  not_opened: z
    .array(z.strictObject({ kind: z.enum(startKinds), reason: z.string() }))
    .describe('What the machine kept and why it did not open.'),
  advice: z.array(z.string()),
});
type Output = z.infer<typeof output>;

export function statusOperation({ vault }: Pick<VaultOperationDeps, 'vault'>) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'vault.status',
    summary: 'Show whether the vault is open and what opens it.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'vault status', draw },
    run: async () => ({
      state: vault.state(),
      secrets: vault.refs().length,
      slots: vault.slots.list().map(slotAnswer),
      not_opened: vault.slots.failures().map(({ kind, reason }) => ({ kind, reason })),
      advice: adviceFor(vault),
    }),
  });
}

function adviceFor(vault: VaultKeeping): string[] {
  const kinds = new Set(vault.slots.list().map(({ kind }) => kind));
  switch (vault.state()) {
    case 'absent':
      return ['It is made with the first: sallyport secret add REF'];
    case 'locked':
      return ['Open it with: sallyport vault unlock'];
    case 'damaged':
      return ['Put database, audit folder and keys back from one and the same backup, then start the daemon again.'];
    case 'open':
      break;
  }
  return [
    ...(!kinds.has('recovery') && !kinds.has('passphrase')
      ? ['Only this machine opens it. Make a recovery code: sallyport vault slot add recovery']
      : []),
    ...(kinds.has('key_file')
      ? ['Whoever can read keys/vault.key and the database can open it. Stricter: vault slot add passphrase, then vault slot rm ID']
      : []),
  ];
}

function draw({ state, secrets, slots, not_opened, advice }: Output): string {
  return [
    `The vault is ${state}${state === 'absent' ? '' : `, with ${secrets} secret${secrets === 1 ? '' : 's'}`}.`,
    ...slots.map(
      ({ id, kind, label }) =>
        `  opens with ${slotWords[kind]}${isStartKind(kind) ? ', at each start' : ''}${label === '' ? '' : ` (${label})`}  ${id}`,
    ),
    ...not_opened.map(({ reason }) => `  did not open: ${reason}`),
    ...advice,
  ].join('\n');
}
