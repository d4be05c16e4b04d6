// audit.verify: does the whole record hold, on disk and in the running daemon? Says what was done to it where it does not.
import { z } from 'zod';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { HeldNote } from '../marks.ts';
import { problemKinds } from '../problem.ts';
import { verifyFolder } from '../verify.ts';
import type { AuditParts } from './parts.ts';

const input = z.strictObject({
  against: z
    .string()
    .max(4_096)
    .meta({ format: 'path' })
    .optional()
    .describe('A file with a checkpoint that you kept from earlier.'),
  against_note: z.string().max(16_384).optional().describe('The text of such a checkpoint.'),
});

const output = z.strictObject({
  ok: z.boolean(),
  records: z.int(),
  /** Base64. */
  root: z.string(),
  checkpoints: z.int(),
  signed: z.int(),
  key: z.string(),
  available: z.boolean(),
  reason: z.string().optional(),
  problems: z.array(z.strictObject({ index: z.int(), kind: z.enum(problemKinds), message: z.string() })),
});
type Output = z.infer<typeof output>;

function draw({ ok, records, root, checkpoints, signed, key, available, reason, problems }: Output): string {
  const state = available ? 'The log records.' : `The log does not record: ${reason}.`;
  const facts = [
    `records      ${records}`,
    `signed       ${signed}`,
    `checkpoints  ${checkpoints}`,
    `root         ${root}`,
    `key          ${key}`,
  ];
  const verdict = ok ? 'The audit log holds: every record, hash and checkpoint.' : 'The audit log does NOT hold:';
  return [verdict, ...problems.map(({ index, kind, message }) => `  ${index}  ${kind}: ${message}`), '', ...facts, '', state].join(
    '\n',
  );
}

export function verifyOperation({ audit, files }: AuditParts) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'audit.verify',
    summary: 'Check every record, hash, checkpoint and signature of the audit log.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'audit verify', draw },
    async run({ against, against_note }, { signal }) {
      const { folder, digest, verifier, settle, anchor } = audit.evidence;
      const { note, size } = await settle();
      const held: HeldNote[] = [{ where: 'the checkpoint in memory', note }];
      const remembered = await anchor();
      if (remembered !== undefined) held.push({ where: 'the checkpoint in the database', note: remembered });
      if (against_note !== undefined) held.push({ where: 'the checkpoint you hold', note: against_note });
      if (against !== undefined) {
        const kept = await files.readText(against);
        if (kept === undefined) throw new AppError('not_found', 'audit.not_found', `There is no file ${against}.`);
        held.push({ where: 'the checkpoint you hold', note: kept });
      }
      const verification = await verifyFolder(files, folder, { digest, verifier, held, upTo: size, signal });
      const { available, reason } = audit.status();
      const problems = verification.problems.map((problem) => ({ ...problem }));
      return { ...verification, problems, available, ...(reason !== undefined && { reason }) };
    },
  });
}
