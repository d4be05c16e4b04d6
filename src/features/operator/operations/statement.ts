// What the operator signed, word for word: the record holds hash and signature, this shows the text they are over.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Operator } from '../operator.ts';

const input = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected the 64 hex digits of statement_sha256 in a record')
    .describe('statement_sha256 of a record with a proof.'),
});
const output = z.strictObject({ sha256: z.string(), statement: z.looseObject({}) });
type Output = z.infer<typeof output>;

export function statementOperation({ operator }: { readonly operator: Operator }) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'operator.statement',
    summary: 'Show a statement the operator signed, by the hash its record holds.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'operator statement', positionals: ['sha256'] },
    async run({ sha256 }) {
      const text = await operator.statement(sha256);
      if (text === undefined) {
        throw new AppError('not_found', 'operator.no_statement', `No statement with the hash ${sha256} was signed here.`, {
          hint: 'Take statement_sha256 from a record: sallyport audit query --event approval.approved',
        });
      }
      return { sha256, statement: JSON.parse(text) as Output['statement'] };
    },
  });
}
