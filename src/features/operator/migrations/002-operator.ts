// One row: the public half of the one key that decides. The primary key is what makes a second operator impossible.
import type { Migration } from '../../../kernel/database.ts';

export const operatorTable: Migration = {
  name: 'operator/002-operator',
  async up(queries) {
    await queries.schema
      .createTable('operator_key')
      .addColumn('singleton', 'integer', (column) => column.primaryKey())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
  },
};
