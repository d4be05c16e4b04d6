// Runs one suite on every database the product supports: SQLite in a file, and a real PostgreSQL with a schema for each `open`,
// so that suites run side by side. Where PostgreSQL cannot run those tests are skipped, loudly; under CI=true they fail.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, describe, inject, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/platform/database.ts';
import type { OwnedDatabase } from '../../src/platform/database.ts';
import type { PostgresAnswer } from './global-setup.ts';

export interface TestDatabase extends OwnedDatabase {
  /** For `open` and for the `storage` setting of a daemon. */
  readonly url: string;
}

/** A new, empty database, or the one at `url` again, as after a restart. Closed and removed after the test (or suite) that opened it. */
export type OpenDatabase = (url?: string) => Promise<TestDatabase>;

const postgres = JSON.parse(await text(connect(inject('postgresDoor')))) as PostgresAnswer;
if ('reason' in postgres && process.env['CI'] === 'true') throw new Error(`PostgreSQL must run under CI: ${postgres.reason}`);

interface Place {
  readonly url: string;
  remove(): Promise<void>;
}

async function sqlitePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-db-'));
  return { url: `sqlite:${join(folder, 'state.db')}`, remove: async () => rmSync(folder, { recursive: true, force: true }) };
}

async function postgresPlace(): Promise<Place> {
  if (!('url' in postgres)) throw new Error(postgres.reason);
  const schema = `t_${randomBytes(8).toString('hex')}`;
  const administer = async (sql: string): Promise<void> => {
    const client = new Client(postgres.url);
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await administer(`create schema ${schema}`);
  return {
    url: `${postgres.url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`,
    remove: () => administer(`drop schema ${schema} cascade`),
  };
}

function opener(makePlace: () => Promise<Place>): OpenDatabase {
  const leftovers: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const cleanUp of leftovers.reverse()) await cleanUp();
  });
  const afterwards = (cleanUp: () => Promise<void>): void => {
    try {
      onTestFinished(cleanUp);
    } catch {
      // Not inside a test: a beforeAll of the suite.
      leftovers.push(cleanUp);
    }
  };
  return async (url) => {
    const place = url === undefined ? await makePlace() : undefined;
    if (place !== undefined) afterwards(() => place.remove());
    const database = await openDatabase(place?.url ?? url ?? '');
    let closed = false;
    const close = async (): Promise<void> => {
      if (closed) return;
      closed = true;
      await database.close();
    };
    afterwards(close);
    return { ...database, close, url: place?.url ?? url ?? '' };
  };
}

/** For what only PostgreSQL can do, or get wrong. */
export function describePostgres(title: string, suite: (open: OpenDatabase) => void): void {
  describe.skipIf('reason' in postgres)(`${title} on PostgreSQL`, () => {
    suite(opener(postgresPlace));
  });
}

/** `describe(title)`, once for each database; `open` is for tests and hooks inside it. */
export function describeDatabases(title: string, suite: (open: OpenDatabase, dialect: 'sqlite' | 'postgres') => void): void {
  describe(`${title} on SQLite`, () => {
    suite(opener(sqlitePlace), 'sqlite');
  });
  describePostgres(title, (open) => {
    suite(open, 'postgres');
  });
}
