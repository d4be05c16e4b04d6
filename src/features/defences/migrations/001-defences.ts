// Decoys under seal, and what the operator set about defences.
import type { Migration } from '../../../kernel/database.ts';

export const defenceTables: Migration = {
  name: 'defences/001-defences',
  async up(queries) {
    await queries.schema
      .createTable('defences_decoy')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute();
    await queries.schema
      .createTable('defences_setting')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
