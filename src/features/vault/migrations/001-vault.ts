// The vault at rest, format 1 (rows.ts): one head, its slots, its entries.
import type { Migration } from '../../../kernel/database.ts';

export const vaultTables: Migration = {
  name: 'vault/001-vault',
  async up(queries) {
    await queries.schema
      .createTable('vault_head')
      .addColumn('singleton', 'integer', (column) => column.primaryKey())
      .addColumn('format', 'integer', (column) => column.notNull())
      .addColumn('vault_id', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('counter', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('mac', 'text', (column) => column.notNull())
      .execute();
    await queries.schema
      .createTable('vault_slot')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('params', 'text', (column) => column.notNull())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('wrapped_private', 'text', (column) => column.notNull())
      .addColumn('sealed_key', 'text', (column) => column.notNull())
      .execute();
    await queries.schema
      .createTable('vault_entry')
      .addColumn('namespace', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('changed_at', 'text', (column) => column.notNull())
      .addColumn('until', 'text')
      .addColumn('wrapped_key', 'text', (column) => column.notNull())
      .addColumn('sealed_value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('vault_entry_place', ['namespace', 'name', 'version'])
      .execute();
  },
};
