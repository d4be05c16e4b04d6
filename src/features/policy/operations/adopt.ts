// policy.adopt: the operator puts the text of policies.yaml in force. What runs is the very text that was shown and signed.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { describeChanges } from '../changes.ts';
import { parsePolicy } from '../file.ts';
import { invalidPolicy, type PolicyAdmin } from '../policy.ts';
import { createShownOnce } from '../shown-once.ts';
import { provablyNarrower } from '../widening.ts';

const input = z.strictObject({});
const output = z.strictObject({ adopted: z.boolean(), version: z.string().describe('SHA-256 of the text now in force.') });

export function adoptOperation({ policy }: { readonly policy: PolicyAdmin }) {
  const shownTexts = createShownOnce<string>();

  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'policy.adopt',
    summary: 'Put the policy file in force.',
    input,
    output,
    effect: 'change',
    access: 'operator',
    command: { words: 'policies adopt' },
    async shown(_input, { caller }) {
      const { text, version } = await policy.readFile();
      const facts = factsOf(policy, text, version);
      shownTexts.keep(caller, text);
      return facts;
    },
    async run(_input, context) {
      const { shown: text, proof } = shownTexts.take(context);
      const { version } = await policy.adopt(text, proof);
      return { adopted: true, version };
    },
  });
}

function factsOf(policy: PolicyAdmin, text: string, version: string): JsonObject {
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw invalidPolicy(parsed.findings);
  const { ground } = policy.standing();
  const adopted = ground.kind === 'adopted' ? ground.adopted : undefined;
  if (adopted?.version === version) {
    throw new AppError('conflict', 'policy.unchanged', 'The policy file is in force already.', {
      hint: 'Edit policies.yaml first.',
    });
  }
  const comparison = adopted === undefined ? undefined : provablyNarrower(adopted.file, parsed.file);
  const wider = comparison?.narrower === false ? comparison.changes : [];
  const changes = describeChanges(adopted?.file, parsed.file);
  return {
    from: adopted?.version ?? 'nothing in force',
    to: version,
    changes: changes.length === 0 ? 'none but comments and spelling' : changes.join('\n'),
    ...(wider.length === 0 ? {} : { wider: wider.join('\n') }),
    text,
  };
}
