// audit.prove: one record with all that shows it is in the signed log, for somebody who has nothing but the log's key.
import { z } from 'zod';
import { encodeBase64url } from '../../../lib/base64url.ts';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { formatVerifierKey } from '../note.ts';
import { inclusionProof, verifyInclusion } from '../proof.ts';
import { formatProof } from '../proof-file.ts';
import { findRecord } from '../reader.ts';
import type { AuditParts } from './parts.ts';

const input = z.strictObject({
  record: z.string().min(1).max(64).describe('Index or id of the record.'),
  no_salt: z.boolean().default(false).describe('Leave out the salt that opens the sealed digests of this record.'),
});

const output = z.strictObject({
  index: z.int(),
  id: z.string(),
  /** Records under the checkpoint of the proof. */
  size: z.int(),
  /** Canonical JSON, exactly as recorded. */
  record: z.string(),
  /** base64url. */
  salt: z.string().optional(),
  key: z.string(),
  /** C2SP tlog-proof; its `extra` holds record and salt, so that this text is all one needs. */
  proof: z.string(),
});

export function proveOperation({ audit, files }: AuditParts) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'audit.prove',
    summary: 'Prove that one record is in the signed log; the text verifies offline.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'audit prove', positionals: ['record'], draw: ({ proof }: { proof: string }) => proof.trimEnd() },
    async run({ record: which, no_salt }) {
      const { folder, tree, node, key, settle, saltOf } = audit.evidence;
      const { index, bytes, record } = await findRecord(files, folder, which);
      const checkpoint = await settle();
      const { size, root, note } = checkpoint;
      if (index >= size) {
        throw new AppError('unavailable', 'audit.unavailable', `Record ${index} is not under a checkpoint yet.`, {
          hint: 'The log cannot sign now; `sallyport audit verify` says why.',
        });
      }
      const path = await inclusionProof(tree, node, index, size);
      if (!verifyInclusion(tree, { index, size, leaf: tree.leaf(bytes), root }, path)) {
        throw new AppError(
          'unavailable',
          'audit.locked',
          `Record ${index} is not the one that was signed, or a stored tile is wrong.`,
          {
            hint: 'Run `sallyport audit verify` to see which.',
          },
        );
      }
      const recorded = new TextDecoder().decode(bytes);
      const salt = record.sealed === undefined || no_salt ? {} : { salt: encodeBase64url(saltOf(record.id)) };
      const proof = formatProof({ index, path, note, extra: { record: recorded, ...salt } });
      return { index, id: record.id, size, record: recorded, ...salt, key: formatVerifierKey(key), proof };
    },
  });
}
