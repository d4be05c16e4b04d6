// What the person who gave a grant was shown of the arguments it is limited to: JSON, a list of guards; null when any will do.
import type { Migration } from '../../../kernel/database.ts';

export const grantGuards: Migration = {
  name: 'grants/002-guards',
  async up(queries) {
    await queries.schema.alterTable('grants_grant').addColumn('guards', 'text').execute();
  },
};
