// What agents proposed and what became of it. Instants are milliseconds since the Unix epoch; free text is JSON, since PostgreSQL
// keeps no NUL in a text. Numbers are given in order and never again.
import type { Migration } from '../../../kernel/database.ts';

export const proposalsTable: Migration = {
  name: 'policy/002-proposals',
  async up(queries) {
    await queries.schema
      .createTable('policy_proposal')
      .addColumn('n', 'integer', (column) => column.primaryKey())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('match', 'text', (column) => column.notNull())
      .addColumn('ttl_ms', 'bigint')
      .addColumn('justification', 'text', (column) => column.notNull())
      .addColumn('conflict', 'text')
      .addColumn('proposed_at', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('decided_at', 'bigint')
      .addColumn('reason', 'text')
      .execute();
    await queries.schema.createIndex('policy_proposals_of').on('policy_proposal').columns(['state', 'agent']).execute();
  },
};
