// The catalogue that an operator took over from elsewhere, one for each key that signs some; its version is the mark below which none is
// taken again.
import type { Migration } from '../../../kernel/database.ts';

export const registryTable: Migration = {
  name: 'registry/001-registry',
  async up(queries) {
    await queries.schema
      .createTable('registry_catalogue')
      .addColumn('public_key', 'text', (column) => column.primaryKey())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('index_text', 'text', (column) => column.notNull())
      .addColumn('signature', 'text', (column) => column.notNull())
      .addColumn('manifests', 'text', (column) => column.notNull())
      .addColumn('adopted_at', 'text', (column) => column.notNull())
      .addColumn('proof', 'text', (column) => column.notNull())
      .execute();
  },
};
