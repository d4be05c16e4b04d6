// One row for each agent, keyed by its name; a token's hash belongs to one agent only.
import type { Migration } from '../../../kernel/database.ts';

export const agentsTable: Migration = {
  name: 'agents/001-agents',
  async up(queries) {
    await queries.schema
      .createTable('agents')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('rotated_at', 'text')
      .addColumn('reason', 'text')
      .execute();
  },
};
