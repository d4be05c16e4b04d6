// Accepted specs, accepted definitions, and what waits to be looked at. Pins belong to an upstream's name and the digest of its accepted spec.
import type { Migration } from '../../../kernel/database.ts';

export const fleetTables: Migration = {
  name: 'fleet/001-fleet',
  async up(queries) {
    await queries.schema
      .createTable('fleet_accepted')
      .addColumn('upstream', 'text', (column) => column.primaryKey().notNull())
      .addColumn('spec_digest', 'text', (column) => column.notNull())
      .addColumn('program', 'text')
      .addColumn('accepted_at', 'text', (column) => column.notNull())
      .addColumn('proof', 'text', (column) => column.notNull())
      .execute();
    // One row per spec digest that was reported as not accepted, so that it is recorded once.
    await queries.schema
      .createTable('fleet_reported')
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('spec_digest', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('fleet_reported_pk', ['upstream', 'spec_digest'])
      .execute();
    // The first listing happened, even if it was empty.
    await queries.schema
      .createTable('fleet_pin_set')
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('spec_digest', 'text', (column) => column.notNull())
      .addColumn('pinned_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('fleet_pin_set_pk', ['upstream', 'spec_digest'])
      .execute();
    for (const table of ['fleet_pin', 'fleet_quarantine']) {
      await queries.schema
        .createTable(table)
        .addColumn('upstream', 'text', (column) => column.notNull())
        .addColumn('spec_digest', 'text', (column) => column.notNull())
        .addColumn('tool', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('definition', 'text', (column) => column.notNull())
        .addColumn(table === 'fleet_pin' ? 'offered' : 'unusable', table === 'fleet_pin' ? 'integer' : 'text')
        .addPrimaryKeyConstraint(`${table}_pk`, ['upstream', 'spec_digest', 'tool'])
        .execute();
    }
  },
};
