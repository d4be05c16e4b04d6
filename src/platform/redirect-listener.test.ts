// The place a browser comes back to, attacked by everything else on this machine.
import { request } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listenForRedirect, type RedirectListener } from './redirect-listener.ts';

let listener: RedirectListener;
beforeEach(async () => {
  listener = await listenForRedirect();
});
afterEach(() => listener.close());

const soon = 5_000;
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

test('[OAUTH-18] the browser with the right state is heard, once, and whoever comes later finds nobody', async () => {
  const back = listener.wait('right', soon);
  const { status, headers, body } = await fetch(`${listener.uri}?state=right&code=abc`);
  expect([status, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([200, 'no-store', 'no-referrer']);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  await body?.cancel();
  expect((await back).get('code')).toBe('abc');
  await expect(fetch(`${listener.uri}?state=right&code=other`)).rejects.toThrow('fetch failed');
});

test('[OAUTH-18] another state, path, method or host is turned away, and the wait goes on', async () => {
  const back = listener.wait('right', soon);
  const { origin, port } = new URL(listener.uri);
  expect(await statusOf(`${listener.uri}?state=wrong&code=evil`)).toBe(400);
  expect(await statusOf(`${listener.uri}?code=evil`)).toBe(400);
  expect(await statusOf(`${origin}/other?state=right&code=evil`)).toBe(400);
  expect((await fetch(`${listener.uri}?state=right&code=evil`, { method: 'POST' })).status).toBe(400);
  expect(await statusFor('rebound.test', Number(port))).toBe(400);
  expect(await statusOf(`${listener.uri}?state=right&code=good`)).toBe(200);
  expect((await back).get('code')).toBe('good');
});

test('[OAUTH-18] before anybody waits nothing is heard', async () => {
  expect(await statusOf(`${listener.uri}?state=&code=evil`)).toBe(400);
});

test('[OAUTH-18] when nobody comes it is said, with what else can be done', async () => {
  await expect(listener.wait('right', 10)).rejects.toThrow(
    expect.objectContaining({ code: 'auth.login_expired', hint: expect.stringContaining('--device') }),
  );
});

test('[OAUTH-13] the port of an earlier registration is taken again, and another one where it is taken or was never ours', async () => {
  const { uri } = listener;
  const beside = await listenForRedirect(uri);
  expect(beside.uri).not.toBe(uri);
  beside.close();
  listener.close();
  await expect.poll(async () => (listener = await listenForRedirect(uri)).uri).toBe(uri);
  const foreign = await listenForRedirect('http://192.0.2.1:80/callback');
  expect(new URL(foreign.uri).hostname).toBe('127.0.0.1');
  foreign.close();
});

/** As a name that a stranger made lead here. */
function statusFor(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/callback?state=right&code=evil', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
