// Whose repositories git is given tokens for.
import type { Migration } from '../../../kernel/database.ts';

export const gitTables: Migration = {
  name: 'git/001-entries',
  async up(queries) {
    await queries.schema
      .createTable('git_entry')
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('access', 'text', (column) => column.notNull())
      .addColumn('secret_ref', 'text', (column) => column.notNull())
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('installation_id', 'text', (column) => column.notNull())
      .addColumn('api_url', 'text')
      .addColumn('allowed_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('git_entry_key', ['host', 'owner'])
      .execute();
  },
};
