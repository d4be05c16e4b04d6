// One row: the policy text in force, with the hash decisions are bound to.
import type { Migration } from '../../../kernel/database.ts';

export const inForceTable: Migration = {
  name: 'policy/001-in-force',
  async up(queries) {
    await queries.schema
      .createTable('policy_in_force')
      .addColumn('singleton', 'integer', (column) => column.primaryKey())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('how', 'text', (column) => column.notNull())
      .addColumn('adopted_at', 'text', (column) => column.notNull())
      .execute();
  },
};
