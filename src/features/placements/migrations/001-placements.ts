// Where secrets may be placed, and where they were.
import type { Migration } from '../../../kernel/database.ts';

export const placementTables: Migration = {
  name: 'placements/001-placements',
  async up(queries) {
    await queries.schema
      .createTable('placements_destination')
      .addColumn('entry', 'text', (column) => column.primaryKey().notNull())
      .addColumn('allowed_at', 'text', (column) => column.notNull())
      .execute();
    await queries.schema
      .createTable('placements_placement')
      .addColumn('out', 'text', (column) => column.primaryKey().notNull())
      .addColumn('ref', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('template', 'text')
      .addColumn('template_file', 'text')
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('salt', 'text', (column) => column.notNull())
      .addColumn('placed_at', 'text', (column) => column.notNull())
      .execute();
  },
};
