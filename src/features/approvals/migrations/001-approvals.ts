// Every question that was put to a person and what became of it. Instants are milliseconds since the Unix epoch, JSON is text.
import type { Migration } from '../../../kernel/database.ts';

export const approvalsTable: Migration = {
  name: 'approvals/001-approvals',
  async up(queries) {
    await queries.schema
      .createTable('approvals_approval')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('question', 'text', (column) => column.notNull())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('capability', 'text', (column) => column.notNull())
      .addColumn('rule', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('args', 'text')
      .addColumn('tool_hash', 'text')
      .addColumn('ttl_ms', 'bigint', (column) => column.notNull())
      .addColumn('guards', 'text', (column) => column.notNull())
      .addColumn('policy_version', 'text', (column) => column.notNull())
      .addColumn('requested_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('decided_at', 'bigint')
      .addColumn('decision_reason', 'text')
      .addColumn('proof', 'text')
      .addColumn('usable_until', 'bigint')
      .addColumn('used_at', 'bigint')
      .execute();
    await queries.schema.createIndex('approvals_by_state').on('approvals_approval').columns(['state', 'requested_at']).execute();
    await queries.schema.createIndex('approvals_by_request').on('approvals_approval').column('requested_at').execute();
  },
};
