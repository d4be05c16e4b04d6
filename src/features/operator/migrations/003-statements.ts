// What the operator signed, in full, by its hash: records carry the hash and the signature, this carries the words.
import type { Migration } from '../../../kernel/database.ts';

export const statementsTable: Migration = {
  name: 'operator/003-statements',
  async up(queries) {
    await queries.schema
      .createTable('operator_statement')
      .addColumn('sha256', 'text', (column) => column.primaryKey())
      .addColumn('statement', 'text', (column) => column.notNull())
      .execute();
  },
};
