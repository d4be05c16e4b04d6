// audit.query: the newest records that match. Reads the log itself, not an index of it.
import { z } from 'zod';
import { defineOperation } from '../../../kernel/operation.ts';
import { auditEvents } from '../model.ts';
import { queryRecords } from '../reader.ts';
import type { AuditParts } from './parts.ts';

const instant = z.iso.datetime({ offset: true }).or(z.iso.date());

const input = z.strictObject({
  actor: z.string().max(100).optional().describe('agent:NAME, operator, local or daemon.'),
  event: z.enum(auditEvents).optional(),
  since: instant.optional().describe('ISO 8601 instant or date (UTC), inclusive.'),
  until: instant.optional().describe('ISO 8601 instant or date (UTC), inclusive.'),
  limit: z.int().min(1).max(200).default(50),
  before: z.int().min(0).optional().describe('Only records with a smaller index: next_before of the page before.'),
});

const output = z.strictObject({
  records: z.array(
    z.strictObject({
      index: z.int(),
      at: z.string(),
      actor: z.string(),
      event: z.string(),
      id: z.string(),
      intent: z.string().optional(),
      committed_at: z.string().optional(),
      facts: z.record(z.string(), z.json()).optional(),
      sealed: z.record(z.string(), z.string()).optional(),
    }),
  ),
  /** Present when older records may match. */
  next_before: z.int().optional(),
});
type Output = z.infer<typeof output>;

const isoOf = (ms: number): string => new Date(ms).toISOString();

function draw({ records, next_before }: Output): string {
  if (records.length === 0) return 'No record matches.';
  const lines = records.map(
    ({ index, at, actor, event, facts }) => `${index}  ${at}  ${actor}  ${event}  ${JSON.stringify(facts ?? {})}`,
  );
  return [...lines, ...(next_before === undefined ? [] : ['', `Older ones: --before ${next_before}`])].join('\n');
}

export function queryOperation({ audit, files }: AuditParts) {
  return defineOperation<z.infer<typeof input>, Output>({
    name: 'audit.query',
    summary: 'Show records of the audit log, newest first.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: { words: 'audit query', draw },
    async run({ actor, event, since, until, limit, before }, { signal }) {
      const filter = {
        actor,
        event,
        before,
        since: since === undefined ? undefined : Date.parse(since),
        // A date means its whole day.
        until: until === undefined ? undefined : Date.parse(until) + (until.length === 10 ? 86_399_999 : 0),
      };
      const { found, more } = await queryRecords(files, audit.evidence.folder, filter, limit, signal);
      const records = found.map(({ index, record: { t, actor, event, id, intent, committedAt, facts, sealed } }) => ({
        index,
        at: isoOf(t),
        actor,
        event,
        id,
        ...(intent !== undefined && { intent }),
        ...(committedAt !== undefined && { committed_at: isoOf(committedAt) }),
        ...(facts && { facts: { ...facts } as NonNullable<Output['records'][number]['facts']> }),
        ...(sealed && { sealed: { ...sealed } }),
      }));
      const last = found.at(-1);
      return { records, ...(more && last !== undefined && { next_before: last.index }) };
    },
  });
}
