import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createAuditHome } from '../../../test/support/audit-home.ts';
import { createDigest, createVerifier } from '../../platform/crypto.ts';
import { openDatabase } from '../../platform/database.ts';
import { auditMigrations } from './store.ts';
import { verifyFolder } from './verify.ts';

const writer = fileURLToPath(new URL('../../../test/fixtures/audit-writer.ts', import.meta.url));

it('[AUD-10] [AUD-11] [AUD-14] kill -9 at any moment loses nothing that was acknowledged, and the log verifies', async () => {
  const home = await createAuditHome();
  const url = `sqlite:${home.folder}.db`;
  const acknowledged: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, [writer, home.folder, url, String(round * 1_000_000)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await sleep(Math.random() * 150);
    child.kill('SIGKILL');
    await exited;
    // A number whose newline did not arrive was not told to anybody.
    acknowledged.push(...said.split('\n').slice(0, -1).map(Number));
  }
  expect(acknowledged.length).toBeGreaterThan(5);

  const db = await openDatabase(url);
  await db.migrate(auditMigrations);
  const audit = await home.start({ db });
  await audit.close();
  await db.close();
  const records = await home.records();
  const numbers = records.map(({ facts }) => facts?.['n']).filter((n) => typeof n === 'number');
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(acknowledged.filter((n) => !numbers.includes(n))).toEqual([]);
  const intents = records.filter(({ event }) => event === 'call.intent').map(({ id }) => id);
  const outcomes = records.filter(({ event }) => event === 'call.outcome').map(({ intent }) => intent);
  expect(new Set(outcomes)).toEqual(new Set(intents));
  expect(outcomes).toHaveLength(intents.length);
  const { problems } = await verifyFolder(home.files, home.folder, { digest: createDigest(), verifier: createVerifier() });
  expect(problems).toEqual([]);
});
