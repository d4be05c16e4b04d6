// Decoys under seal, what the operator set about defences, and who read something suspicious lately.
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
    await queries.schema
      .createTable('defences_taint')
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('pattern', 'text', (column) => column.notNull())
      .addColumn('until', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('defences_taint_mark', ['agent', 'upstream'])
      .execute();
  },
};
