// Renewing a login against a server that uses each refresh token once, over a real vault, with the time in the test's hand.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startOAuthServer, type OAuthServer } from '../../../../test/fixtures/providers/oauth-server.ts';
import { keyFileSlot, openVaultHouse, operator, type VaultHouse } from '../../../../test/support/vault-house.ts';
import { silentLog } from '../../../../test/support/silent-log.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { TokenHttp } from '../../../kernel/ports.ts';
import { createEntropy } from '../../../platform/crypto.ts';
import { openDatabase, type OwnedDatabase } from '../../../platform/database.ts';
import { createTokenHttp } from '../../../platform/token-http.ts';
import { createHeldLogin, type HeldLogin } from './held-login.ts';
import { logInAt } from '../../../../test/support/oauth-login.ts';
import { readRecord, withoutTokens, type LoginRecord } from './login-record.ts';

const { signal } = new AbortController();
const ref = 'notion_login';

let folder: string;
let db: OwnedDatabase;
let server: OAuthServer;
let house: VaultHouse;
let login: HeldLogin;
let record: LoginRecord;
/** Where requests really go; a test puts itself in between. */
let http: TokenHttp;
let renewals: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'held-login-'));
  db = await openDatabase(`sqlite:${join(folder, 'state.db')}`);
  house = await openVaultHouse(db);
  await house.vault.slots.create([keyFileSlot], operator);
  server = await startOAuthServer({ now: () => house.clock.now() });
  http = createTokenHttp();
  renewals = 0;
  await begin();
});
afterEach(async () => {
  login.close();
  house.vault.close();
  await server.stop();
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  record = await logInAt(server, house.clock);
  login = hold();
  await login.replace(record, operator);
  server.grants.length = 0;
}

function hold(vault = house.vault): HeldLogin {
  return createHeldLogin({
    ref,
    vault,
    http: { request: (request) => http.request(request) },
    clock: house.clock,
    entropy: createEntropy(),
    log: silentLog(),
    onRenewed: () => (renewals += 1),
  });
}

const current = (): Promise<string> => login.current('notion', signal).then(({ access_token: token }) => token);
const codeOf = (thrown: unknown): string => (thrown instanceof AppError ? thrown.code : String(thrown));
const failure = (): Promise<AppError> =>
  current().then(
    () => expect.unreachable('it was given a token'),
    (error: AppError) => error,
  );
const stored = (): LoginRecord => readRecord(house.vault.logins.valueNow(ref).value);
const past = (): void => house.clock.advance(3_600_000);
const unreachable: TokenHttp = {
  request: () => Promise.reject(new AppError('unavailable', 'auth.unreachable', 'example.test has a name that cannot be resolved')),
};

/** What a timer began is done when nothing is under way any more. */
async function settled(): Promise<void> {
  await login.current('notion', signal).catch(() => undefined);
}

describe('a token that runs out', () => {
  test('[OAUTH-1] five calls at its end make one request, and the family lives', async () => {
    login.close();
    past();
    login = hold();
    const tokens = await Promise.all(Array.from({ length: 5 }, current));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe(record.access_token);
    expect(server.grants).toEqual(['refresh_token']);
    expect(server.reuses).toBe(0);
  });

  test('[OAUTH-2] it is renewed by itself at 80 % of its life, a tenth of that earlier or later', async () => {
    const first = await current();
    house.clock.advance(3_600_000 * 0.71);
    expect(server.grants).toEqual([]);
    house.clock.advance(3_600_000 * 0.18);
    await expect.poll(() => renewals).toBe(2);
    expect(server.grants).toEqual(['refresh_token']);
    expect(await current()).not.toBe(first);
  });

  test('[OAUTH-3] what is new is in the vault before anybody is given it', async () => {
    let kept: string | undefined;
    const renew = house.vault.logins.renew.bind(house.vault.logins);
    const slow = {
      ...house.vault,
      logins: {
        ...house.vault.logins,
        renew: async (name: string, bytes: Uint8Array) => {
          const facts = await renew(name, bytes);
          kept = stored().access_token;
          return facts;
        },
      },
    };
    login.close();
    login = hold(slow);
    past();
    const token = await current();
    expect(kept).toBe(token);
    expect(stored().refresh_token).not.toBe(record.refresh_token);
  });

  test('[OAUTH-3] a commit that fails costs no second refresh token: the next try begins with the commit', async () => {
    let broken = true;
    const { logins } = house.vault;
    const faulty = {
      ...house.vault,
      logins: {
        ...logins,
        renew: (name: string, bytes: Uint8Array) =>
          broken ? Promise.reject(new AppError('unavailable', 'vault.locked', 'The vault is locked.')) : logins.renew(name, bytes),
      },
    };
    login.close();
    login = hold(faulty);
    past();
    expect((await failure()).code).toBe('vault.locked');
    expect(stored()).toEqual(record);
    broken = false;
    const token = await current();
    expect(server.grants).toEqual(['refresh_token']);
    expect(server.reuses).toBe(0);
    expect(stored().access_token).toBe(token);
  });

  test('[OAUTH-4] a token of 8 KB is kept and shown whole', async () => {
    server.padding = 8_192;
    past();
    const token = await current();
    expect(token.length).toBeGreaterThan(8_192);
    expect(stored().access_token).toBe(token);
  });

  test('[OAUTH-4] a token that fits in no vault is refused, and the login stays', async () => {
    server.padding = 30_000;
    past();
    expect((await failure()).code).toBe('auth.unreachable');
    expect(stored()).toEqual(record);
  });

  test('[OAUTH-5] where the server does not say how long, it is used until it is refused, and then renewed once', async () => {
    server.expiresIn = undefined;
    past();
    const token = await current();
    expect(stored().expires_at).toBeUndefined();
    house.clock.advance(30 * 24 * 3_600_000);
    expect(await current()).toBe(token);
    expect(await login.refused(token)).toBe(true);
    expect(await current()).not.toBe(token);
    expect(await login.refused(token), 'another one is there already').toBe(true);
    expect(server.grants).toEqual(['refresh_token', 'refresh_token']);
  });

  test('[OAUTH-5] a token that is refused at once is not renewed again and again', async () => {
    past();
    const token = await current();
    expect(await login.refused(token)).toBe(false);
    expect(server.grants).toEqual(['refresh_token']);
  });
});

describe('a token endpoint that fails', () => {
  test('[OAUTH-6] unreachable is never taken for over: it backs off, and goes on when it is back', async () => {
    http = unreachable;
    past();
    const error = await failure();
    expect([error.code, codeOf(error)]).toEqual(['auth.unreachable', 'auth.unreachable']);
    expect(error.retryAfterMs).toBeGreaterThan(0);
    expect(login.course()).toMatchObject({ state: 'backoff' });
    expect(stored()).toEqual(record);
    http = createTokenHttp();
    house.clock.advance(15 * 60_000);
    await settled();
    expect(login.course()).toEqual({ state: 'ok' });
    expect(await current()).not.toBe(record.access_token);
  });

  test('[OAUTH-6] while it rests nobody asks it, however many call', async () => {
    let asked = 0;
    http = { request: (request) => ((asked += 1), unreachable.request(request)) };
    house.clock.advance(3_600_000);
    await settled();
    const before = asked;
    for (let call = 0; call < 10; call += 1) await failure();
    expect(asked).toBe(before);
  });

  test('[OAUTH-7] after five failures in a row a call pokes it, and one that succeeds closes it', async () => {
    http = unreachable;
    past();
    for (let rest = 0; rest < 8; rest += 1) {
      await settled();
      house.clock.advance(20 * 60_000);
    }
    await settled();
    expect(login.course()).toMatchObject({ state: 'circuit_open' });
    http = createTokenHttp();
    house.clock.advance(5_001);
    expect(await current()).not.toBe(record.access_token);
    expect(login.course()).toEqual({ state: 'ok' });
  });

  test('[OAUTH-7] what the server says no to for good opens it at once', async () => {
    server.tokenError = { status: 400, error: 'unsupported_grant_type' };
    past();
    await settled();
    expect(login.course()).toMatchObject({ state: 'circuit_open', failures: 1 });
  });

  test('[OAUTH-8] invalid_grant and invalid_client end it: calls fail at once and name the command', async () => {
    for (const answer of [
      { status: 400, error: 'invalid_grant' },
      { status: 401, error: 'invalid_client' },
    ]) {
      server.tokenError = answer;
      past();
      await settled();
      const asked = server.grants.length;
      const error = await failure();
      expect(error.code).toBe('auth.needs_reauth');
      expect(error.hint).toBe('Ask the human to run in your terminal: scopegate auth login notion');
      expect(server.grants.length).toBe(asked);
      await login.replace(await logInAt(server, house.clock), operator);
      expect(await current()).toMatch(/^tok-/);
    }
  });

  test('[OAUTH-8] a token that is still good is used, whatever became of its renewal', async () => {
    server.revokeAll();
    house.clock.advance(3_600_000 * 0.9);
    await expect.poll(() => login.course().state).toBe('needs_reauth');
    expect(await current()).toBe(record.access_token);
  });
});

describe('a person who logs in or out meanwhile', () => {
  test('[OAUTH-9] a login is not overwritten by a renewal that was under way', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const real = createTokenHttp();
    const other = await logInAt(server, house.clock);
    http = { request: (request) => promise.then(() => real.request(request)) };
    past();
    const call = current().catch(codeOf);
    await login.replace({ ...other, expires_at: house.clock.now() + 3_600_000 }, operator);
    resolve();
    expect(await call).toBe(other.access_token);
    expect(stored().access_token).toBe(other.access_token);
  });

  test('[OAUTH-10] after logout and restart a registration is there and no token, until the next login', async () => {
    await login.replace(withoutTokens(record), undefined);
    login.close();
    login = hold(await reopened());
    const error = await failure();
    expect(error.code).toBe('auth.needs_reauth');
    expect(login.seen()).toMatchObject({ client: { id: record.client.id } });
    expect(server.grants).toEqual([]);
    const again = await logInAt(server, house.clock);
    await login.replace(again, operator);
    expect(await current()).toBe(again.access_token);
  });
});

async function reopened(): Promise<typeof house.vault> {
  house.vault.close();
  const vault = await house.restart();
  await vault.slots.openByMachine();
  return vault;
}
