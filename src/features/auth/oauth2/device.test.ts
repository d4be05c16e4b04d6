// A login with a code on another device, with the time in the test's hand.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.ts';
import { startOAuthServer, type OAuthServer } from '../../../../test/fixtures/providers/oauth-server.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { TokenHttp } from '../../../kernel/ports.ts';
import { createTokenHttp } from '../../../platform/token-http.ts';
import type { LoginPlan } from './authorization.ts';
import { clientFor } from './client.ts';
import { askForDeviceCode, waitForDevice, type DeviceCode } from './device.ts';
import { discover } from './discovery.ts';
import type { LoginRecord } from './login-record.ts';
import type { LoginTarget } from './login-target.ts';

let server: OAuthServer;
let clock: FakeClock;
let plan: LoginPlan;
let code: DeviceCode;
let reachable: boolean;
const ending = new AbortController();
const real = createTokenHttp();
const http: TokenHttp = {
  request: (request) =>
    reachable ? real.request(request) : Promise.reject(new AppError('unavailable', 'auth.unreachable', 'it is not there')),
};

beforeEach(async () => {
  reachable = true;
  server = await startOAuthServer();
  clock = createFakeClock();
  const target: LoginTarget = { upstream: 'notion', url: server.resource, granted: [], missed: [] };
  const found = await discover(real, target, ending.signal);
  const redirectUri = 'http://127.0.0.1/callback';
  const client = await clientFor(real, { target, found, redirectUri, secret: undefined, known: undefined }, ending.signal);
  plan = { target, found, client, redirectUri };
  code = await askForDeviceCode(http, plan, ending.signal);
});
afterEach(() => server.stop());

const asked = (): number => server.grants.length;
const wait = (): Promise<LoginRecord> => waitForDevice(http, plan, code, { clock, signal: ending.signal });
function turn(state: 'approved' | 'denied' | 'expired' | 'slow_down'): void {
  for (const device of server.devices.values()) device.state = state;
}

/** Moves on by as much and lets the request that falls due be answered. */
async function pass(ms: number, requests = 1): Promise<void> {
  const before = asked();
  clock.advance(ms);
  await expect.poll(asked).toBe(before + requests);
  await expect.poll(() => clock.pending(), { timeout: 2_000 }).toBeLessThanOrEqual(1);
  await new Promise((resolve) => setTimeout(resolve, 10));
}

test('[OAUTH-15] it is asked every five seconds until somebody has typed the code, and for the resource', async () => {
  const login = wait();
  await pass(4_999, 0);
  await pass(1);
  await pass(5_000);
  turn('approved');
  await pass(5_000);
  expect(await login).toMatchObject({ access_token: expect.stringMatching(/^tok-/), resource: server.resource });
  expect(code.userCode).toMatch(/^[0-9A-F]{4}-[0-9A-F]{4}$/);
});

test('[OAUTH-15] slow_down makes it wait five seconds longer from then on', async () => {
  const login = wait();
  turn('slow_down');
  await pass(5_000);
  await pass(9_999, 0);
  turn('approved');
  await pass(1);
  expect(await login).toBeDefined();
});

test('[OAUTH-15] a no and an end are told as that', async () => {
  for (const [state, wanted] of [
    ['denied', 'auth.refused'],
    ['expired', 'auth.login_expired'],
  ] as const) {
    const login = wait().catch((error: AppError) => error.code);
    turn(state);
    await pass(5_000);
    expect(await login).toBe(wanted);
  }
});

test('[OAUTH-15] while the server cannot be reached it is asked half as often, and then again', async () => {
  const login = wait();
  reachable = false;
  clock.advance(5_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  reachable = true;
  turn('approved');
  await pass(9_999, 0);
  await pass(1);
  expect(await login).toBeDefined();
});

test('[OAUTH-15] when the code is over nobody asks any more', async () => {
  const short = { ...code, lifeMs: 4_000 };
  const login = waitForDevice(http, plan, short, { clock, signal: ending.signal }).catch((error: AppError) => error.code);
  clock.advance(5_000);
  expect(await login).toBe('auth.login_expired');
  expect(asked()).toBe(0);
});

test('[OAUTH-15] a page that is not https, or a code that could draw, is shown to nobody', async () => {
  for (const answer of [
    { device_code: 'x', user_code: 'AB\u001b[2J', verification_uri: 'https://auth.test/a' },
    { device_code: 'x', user_code: 'ABCD', verification_uri: 'javascript:alert(1)' },
  ]) {
    const lying: TokenHttp = { request: async () => ({ status: 200, headers: {}, body: JSON.stringify(answer) }) };
    await expect(askForDeviceCode(lying, plan, ending.signal)).rejects.toThrow(AppError);
  }
});
