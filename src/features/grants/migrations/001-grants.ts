// Grants that were issued and have not been swept or revoked. Instants are milliseconds since the Unix epoch.
import type { Migration } from '../../../kernel/database.ts';

export const grantsTable: Migration = {
  name: 'grants/001-grants',
  async up(queries) {
    await queries.schema
      .createTable('grants_grant')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('capability', 'text', (column) => column.notNull())
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('rule', 'text', (column) => column.notNull())
      .addColumn('approval_id', 'text')
      .addColumn('granted_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('ttl_ms', 'bigint', (column) => column.notNull())
      .execute();
    await queries.schema.createIndex('grants_by_expiry').on('grants_grant').column('expires_at').execute();
    await queries.schema.createIndex('grants_by_agent').on('grants_grant').column('agent').execute();
  },
};
