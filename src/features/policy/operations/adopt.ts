// policy.adopt: the operator puts the text of policies.yaml in force. What runs is the very text that was shown and signed.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { describeChanges } from '../changes.ts';
import { parsePolicy } from '../file.ts';
import { invalidPolicy, type PolicyAdmin } from '../policy.ts';
import { provablyNarrower } from '../widening.ts';

const input = z.strictObject({});
const output = z.strictObject({ adopted: z.boolean(), version: z.string().describe('SHA-256 of the text now in force.') });

/** Texts shown against a proof and not run yet; a proof is used once, so this stays small. */
const keptTexts = 8;

export function adoptOperation({ policy }: { readonly policy: PolicyAdmin }) {
  const shownTexts = new Map<string, string>();

  /** The challenge of the proof ties the run to the text computed for it: the file may change in between. */
  const proofOf = (caller: Caller): string | undefined => (caller.kind === 'operator' ? caller.proof.challenge : undefined);

  function remember(challenge: string, text: string): void {
    shownTexts.set(challenge, text);
    const oldest = shownTexts.size > keptTexts ? shownTexts.keys().next().value : undefined;
    if (oldest !== undefined) shownTexts.delete(oldest);
  }

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
      const challenge = proofOf(caller);
      if (challenge !== undefined) remember(challenge, text);
      return facts;
    },
    async run(_input, { caller, proofFacts }) {
      const challenge = proofOf(caller);
      const text = challenge === undefined ? undefined : shownTexts.get(challenge);
      if (challenge === undefined || text === undefined || proofFacts === undefined) {
        throw new AppError('denied', 'operator.proof_required', 'Adopting a policy needs the operator’s signature over it.');
      }
      shownTexts.delete(challenge);
      const { version } = await policy.adopt(text, proofFacts);
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
