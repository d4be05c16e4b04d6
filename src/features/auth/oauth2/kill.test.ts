// kill -9 in the middle of renewals against a server that uses each refresh token once: what stands in the vault afterwards is what was
// given out last, or the one that came after it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startOAuthServer } from '../../../../test/fixtures/providers/oauth-server.ts';
import { logInAt } from '../../../../test/support/oauth-login.ts';
import { openVaultOnDisk } from '../../../../test/support/vault-on-disk.ts';
import { operator } from '../../../../test/support/vault-house.ts';
import { readRecord, writeRecord } from './login-record.ts';

const renewer = fileURLToPath(new URL('../../../../test/fixtures/login-renewer.ts', import.meta.url));
const rounds = 6;

test('[OAUTH-3] kill -9 leaves the login as it was given out last, or a newer one, and never neither', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'login-kill-'));
  const server = await startOAuthServer();
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `sqlite:${join(folder, 'state.db')}`;
  // Over before it arrives, so that each call renews.
  server.expiresIn = 1;
  const given: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await openVaultOnDisk(folder, url);
    await before.vault.logins.keep('killed', writeRecord(await logInAt(server, Date)), operator);
    await before.close();

    const child = spawn(process.execPath, [renewer, folder, url], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    const exited = once(child, 'close');
    while (child.exitCode === null && said.split('\n').length <= 3) await sleep(2);
    await sleep(Math.random() * 30);
    child.kill('SIGKILL');
    await exited;
    const tokens = said.split('\n').slice(0, -1);
    given.push(...tokens);

    const after = await openVaultOnDisk(folder, url);
    const record = readRecord(after.vault.logins.valueNow('killed').value);
    await after.close();
    const issued = server.issued;
    const [last, kept] = [issued.indexOf(tokens.at(-1) ?? ''), issued.indexOf(record.access_token ?? '')];
    expect(last).toBeGreaterThanOrEqual(0);
    expect([0, 1]).toContain(kept - last);
  }
  expect(given.length).toBeGreaterThan(rounds);
  expect(server.reuses).toBe(0);
}, 60_000);
