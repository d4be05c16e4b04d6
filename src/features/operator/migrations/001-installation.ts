// One row: which installation this database belongs to. A signature made for one home means nothing to another.
import type { Migration } from '../../../kernel/database.ts';

export const installationTable: Migration = {
  name: 'operator/001-installation',
  async up(queries) {
    await queries.schema
      .createTable('operator_installation')
      .addColumn('singleton', 'integer', (column) => column.primaryKey())
      .addColumn('installation', 'text', (column) => column.notNull())
      .execute();
  },
};
