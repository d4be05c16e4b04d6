// The human door through its routes: exact names, a static page, and decisions that carry their own proof.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSmallDispatch } from '../../../test/support/small-dispatch.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { createTestOperator } from '../../../test/support/test-operator.ts';
import { createHumanDoor } from './human-door.ts';
import { humanPage, stylePin } from './human-page.ts';

const host = 'a1b2.localhost:7078';
const origin = `http://${host}`;

function open() {
  const dispatch = createSmallDispatch();
  const operator = createTestOperator();
  dispatch.operatorKey = operator.publicKey;
  const door = createHumanDoor({ dispatch, log: silentLog(), origin: () => origin });
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
    door.request(path, {
      method,
      headers: { host, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { dispatch, operator, ask };
}

const strangers: [string, Record<string, string>][] = [
  ['the address', { host: '127.0.0.1:7078' }],
  ['plain localhost', { host: 'localhost:7078' }],
  ['another install', { host: 'ffff.localhost:7078' }],
  ['no port', { host: 'a1b2.localhost' }],
  ['another port', { host: 'a1b2.localhost:80' }],
  ['a longer name', { host: `${host}.evil.example` }],
  ['two names', { host: `${host}, evil.example` }],
  ['a trailing dot', { host: 'a1b2.localhost.:7078' }],
  ['a foreign origin', { origin: 'https://evil.example' }],
  ['an opaque origin', { origin: 'null' }],
  ['the origin without its port', { origin: 'http://a1b2.localhost' }],
  ['the origin over TLS', { origin: `https://${host}` }],
];
const routes: [string, string][] = [
  ['GET', '/'],
  ['GET', '/health'],
  ['POST', '/v1/operations/notes.add'],
  ['GET', '/v1/status'],
  ['GET', '/no/such/page'],
  ['OPTIONS', '/v1/operations/notes.add'],
];

test.each(strangers)('[DOOR-3] %s is refused on every route with 403 and is recorded', async (_, headers) => {
  for (const [method, path] of routes) {
    const { ask, dispatch } = open();
    const response = await ask(method, path, headers, method === 'POST' ? { input: { text: 'hi' } } : undefined);
    expect([method, path, response.status]).toEqual([method, path, 403]);
    expect(dispatch.journal).toHaveLength(1);
    expect(dispatch.journal[0]).toMatch(/^refused human wrong_(host|origin) /);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('[DOOR-3] a request without any Host is refused', async () => {
  const { dispatch } = open();
  const door = createHumanDoor({ dispatch, log: silentLog(), origin: () => origin });
  expect((await door.request('/')).status).toBe(403);
});

test('what a stranger sent is recorded shortened and printable', async () => {
  const { ask, dispatch } = open();
  await ask('GET', '/', { host: `\u009b${'x'.repeat(5000)}` });
  expect(dispatch.journal[0]?.length).toBeLessThan(300);
  expect(dispatch.journal[0]).not.toContain('\u009b');
});

test('the page is static, explains how to decide, and may run no script', async () => {
  const { ask } = open();
  const response = await ask('GET', '/');
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(page).toBe(humanPage);
  expect(page).toContain('sallyport approve ID');
  expect(page).not.toContain('<script');
  expect(response.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src '${stylePin}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('the style the page carries is the one its policy admits', () => {
  const style = /<style>([^]*?)<\/style>/.exec(humanPage)?.[1] ?? '';
  expect(stylePin).toBe(`sha256-${createHash('sha256').update(style).digest('base64')}`);
});

test('health says one word', async () => {
  const { ask } = open();
  expect(await (await ask('GET', '/health')).json()).toEqual({ status: 'ok' });
});

test('a decision with a valid signature runs, once', async () => {
  const { ask, dispatch, operator } = open();
  const statement = await dispatch.prepare({ kind: 'local' }, 'notes.add', { text: 'hi' }, AbortSignal.timeout(1000));
  const body = { input: { text: 'hi' }, proof: operator.prove(statement) };
  const first = await ask('POST', '/v1/operations/notes.add', { origin }, body);
  expect([first.status, await first.json()]).toEqual([200, { output: { id: 1, token: 'T' } }]);
  expect((await ask('POST', '/v1/operations/notes.add', {}, body)).status).toBe(403);
  expect(dispatch.journal).toEqual(['did notes.add {"text":"hi"} by passphrase']);
});

test('[SEC-2] without a proof nothing runs, and everything but an operator operation is 404', async () => {
  const { ask, dispatch } = open();
  expect((await ask('POST', '/v1/operations/notes.add', {}, { input: { text: 'hi' } })).status).toBe(401);
  for (const path of ['notes.list', 'notes.mine', 'operator.create', 'no.such', 'notes.add/prepare']) {
    expect([path, (await ask('POST', `/v1/operations/${path}`, {}, { input: {} })).status]).toEqual([path, 404]);
  }
  for (const path of ['/v1/status', '/v1/operations', '/v1/operations/notes.add', '/metrics']) {
    expect([path, (await ask('GET', path)).status]).toEqual([path, 404]);
  }
  expect(dispatch.journal).toEqual(['refused human no_proof {"operation":"notes.add"}']);
});
