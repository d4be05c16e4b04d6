// Records that were committed with their state and are not known to stand in the log yet, in the order they must get there.
import type { Migration } from '../../../kernel/database.ts';

export const outboxTable: Migration = {
  name: 'audit/001-outbox',
  async up(queries) {
    await queries.schema
      .createTable('audit_outbox')
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('position', 'bigint', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('committed_at', 'bigint', (column) => column.notNull())
      .addColumn('draft', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_outbox_key', ['origin', 'position'])
      .execute();
  },
};
