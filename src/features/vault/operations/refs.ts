// scopegate_vault_status: the names an agent could use (gate contract, scopegate_vault_status; DESIGN §5): those nothing is bound to yet,
// and those of upstreams it may reach.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import type { VaultOperationDeps } from '../operation-deps.ts';

const input = z.strictObject({});
const output = z.strictObject({ secret_refs: z.array(z.string()) });

export function refsOperation({ vault, boundTo, reachable, decoy }: VaultOperationDeps) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'vault.refs',
    summary: 'List the secret REF NAMES in the vault, never values. No arguments.',
    description:
      'Check it before registering an upstream so you pick an existing secretRef. A missing ref means asking the human to run ' +
      '`scopegate secret add <ref>` in their terminal.',
    input,
    output,
    effect: 'look',
    access: 'agent',
    tool: {
      toolset: 'gate',
      name: 'scopegate_vault_status',
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async run(_, { caller }) {
      const agent = caller.kind === 'agent' ? caller.agent : undefined;
      const usable = (ref: string): boolean => {
        if (decoy(ref)) return false;
        const upstreams = boundTo(ref);
        return upstreams.length === 0 || upstreams.some((upstream) => agent !== undefined && reachable(agent, upstream));
      };
      return { secret_refs: vault.refs().filter(usable) };
    },
  });
}
