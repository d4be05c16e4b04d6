// One row for each log: the newest checkpoint the database knows of, so that neither can be put back to an older copy alone.
import type { Migration } from '../../../kernel/database.ts';

export const anchorTable: Migration = {
  name: 'audit/002-anchor',
  async up(queries) {
    await queries.schema
      .createTable('audit_anchor')
      .addColumn('origin', 'text', (column) => column.primaryKey())
      .addColumn('note', 'text', (column) => column.notNull())
      .execute();
  },
};
