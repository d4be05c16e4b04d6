// The human door through its routes: exact names, a static page, and decisions that carry their own proof.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSmallDispatch } from '../../../test/support/small-dispatch.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { createTestOperator } from '../../../test/support/test-operator.ts';
import type { ApprovalNotice } from './approval-page.ts';
import { createHumanDoor } from './human-door.ts';
import { humanPage, stylePin } from './human-page.ts';

const host = 'a1b2.localhost:7078';
const origin = `http://${host}`;
const waiting: ApprovalNotice = {
  id: '6f1a2b3c-4d5e-4f60-8a7b-0123456789ab',
  agent: 'kimi-1',
  capability: 'up:call:<script>alert(1)</script>&"\u202e',
  origin: 'call',
  requestedAt: Date.UTC(2026, 0, 1),
  expiresAt: Date.UTC(2026, 0, 1, 0, 10),
  state: 'pending',
};
const approvals = new Map(
  [waiting, decided('approved', '7'), decided('denied', '8'), decided('expired', '9')].map((one) => [one.id, one]),
);

function decided(state: ApprovalNotice['state'], first: string): ApprovalNotice {
  return { ...waiting, id: waiting.id.replace('6', first), state };
}

function open() {
  const dispatch = createSmallDispatch();
  const operator = createTestOperator();
  dispatch.operatorKey = operator.publicKey;
  const door = createHumanDoor({ dispatch, log: silentLog(), origin: () => origin, approval: async (id) => approvals.get(id) });
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
  ['GET', `/approvals/${waiting.id}`],
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
  const door = createHumanDoor({ dispatch, log: silentLog(), origin: () => origin, approval: async (id) => approvals.get(id) });
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

test('[ELICIT-6] the page of an approval says who wants what and how to decide, whatever the words, and may run no script', async () => {
  const { ask, dispatch } = open();
  const response = await ask('GET', `/approvals/${waiting.id}`);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(page).toContain('<code>kimi-1</code>');
  expect(page).toContain('<code>up:call:&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;\\u{202e}</code>');
  expect(page).toContain(`<code>scopegate approve ${waiting.id}</code>`);
  expect(page).toContain('2026-01-01T00:10:00.000Z');
  expect(page).not.toMatch(/<script|<form|<a |<input|<button/);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(/<style>([^]*?)<\/style>/.exec(page)?.[1]).toBe(/<style>([^]*?)<\/style>/.exec(humanPage)?.[1]);
  expect(dispatch.journal).toEqual([]);
});

test('[ELICIT-6] one that is decided says so, and offers no command any more', async () => {
  const { ask } = open();
  for (const [first, words] of [
    ['7', 'A person approved it.'],
    ['8', 'A person denied it.'],
    ['9', 'Nobody decided in time.'],
  ] as const) {
    const page = await (await ask('GET', `/approvals/${waiting.id.replace('6', first)}`)).text();
    expect(page).toContain(words);
    expect(page).not.toContain('scopegate approve');
  }
});

test('[ELICIT-6] an address that is none is 404, without an echo, and no method but GET is served', async () => {
  const { ask } = open();
  const strange = ['nobody', '%3Cscript%3E', waiting.id.toUpperCase(), `${waiting.id}x`, waiting.id.replace('6', '0'), '..%2f'];
  const pages = await Promise.all(strange.map(async (id) => ask('GET', `/approvals/${id}`)));
  expect(pages.map(({ status }) => status)).toEqual(strange.map(() => 404));
  expect(new Set(await Promise.all(pages.map((page) => page.text()))).size).toBe(1);
  expect((await ask('POST', `/approvals/${waiting.id}`, {}, { approve: true })).status).toBe(404);
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
