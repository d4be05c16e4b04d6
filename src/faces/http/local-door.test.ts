// The local door through its routes, with a dispatch of a few operations.
import { expect, test } from 'vitest';
import { createSmallDispatch } from '../../../test/support/small-dispatch.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { createLocalDoor } from './local-door.ts';
import { maxBodyBytes } from './request-body.ts';

function open() {
  const dispatch = createSmallDispatch();
  const log = silentLog();
  const door = createLocalDoor({ dispatch, log, status: () => ({ pid: 7 }) });
  const post = async (
    path: string,
    body: string | object,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => {
    const response = await door.request(path, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown>, headers: response.headers };
  };
  return { dispatch, door, log, post };
}

test('status and the list of operations answer without a body', async () => {
  const { door } = open();
  expect(await (await door.request('/v1/status')).json()).toEqual({ pid: 7 });
  const { operations } = (await (await door.request('/v1/operations')).json()) as { operations: { name: string; input: object }[] };
  expect(operations.map(({ name }) => name)).toEqual([
    'notes.add',
    'notes.list',
    'notes.check',
    'agents.add',
    'upstreams.add',
    'operator.status',
    'operator.create',
  ]);
  expect(operations[0]?.input).toMatchObject({ type: 'object', required: ['text'] });
});

test('a local operation runs with no body of input and answers its output', async () => {
  const { post } = open();
  expect(await post('/v1/operations/notes.list', {})).toMatchObject({ status: 200, body: { output: [] } });
});

test('[SEC-2] an agent’s operation does not exist at the local door, prepared or run', async () => {
  const { post } = open();
  for (const path of ['/v1/operations/notes.mine', '/v1/operations/notes.mine/prepare']) {
    expect(await post(path, {})).toMatchObject({ status: 404, body: { error: { code: 'http.unknown_operation' } } });
  }
});

test.each([
  ['invalid', 400],
  ['unauthenticated', 401],
  ['denied', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['limited', 429],
  ['unavailable', 503],
])('an error of kind %s is status %i with code, message and hint', async (fails, status) => {
  const { post } = open();
  const answer = await post('/v1/operations/notes.check', { input: { name: 'x', command: ['a'], fails } });
  expect(answer.status).toBe(status);
  expect(answer.body['error']).toEqual({
    kind: fails,
    code: `notes.${fails}`,
    message: 'refused: x',
    hint: 'Do it otherwise.',
    ...(fails === 'limited' ? { retry_after_s: 2 } : {}),
  });
  expect(answer.headers.get('retry-after')).toBe(fails === 'limited' ? '2' : null);
});

test('an unexpected error is 500, is logged, and its message stays inside', async () => {
  const { post, log } = open();
  const answer = await post('/v1/operations/notes.check', { input: { name: 'SECRET', command: ['a'], fails: 'internal' } });
  expect(answer.status).toBe(500);
  expect(JSON.stringify(answer.body)).not.toContain('SECRET');
  expect(log.lines).toHaveLength(1);
  expect(log.lines.join('')).not.toContain('SECRET');
});

test.each([
  ['no JSON', '{', { 'content-type': 'application/json' }],
  ['a duplicate key', '{"input":{},"input":{}}', { 'content-type': 'application/json' }],
  ['another type', '{}', { 'content-type': 'text/plain' }],
  ['an unknown member', '{"inputs":{}}', { 'content-type': 'application/json' }],
  ['a list', '[]', { 'content-type': 'application/json' }],
  ['a proof of the wrong shape', '{"proof":{"challenge":"a"}}', { 'content-type': 'application/json' }],
  ['a body too large', `{"input":"${'a'.repeat(maxBodyBytes)}"}`, { 'content-type': 'application/json' }],
])('%s is refused with 400 and nothing runs', async (_, body, headers) => {
  const { post, dispatch } = open();
  const answer = await post('/v1/operations/operator.create', body, headers);
  expect(answer).toMatchObject({ status: 400, body: { error: { kind: 'invalid' } } });
  expect(dispatch.journal).toEqual([]);
});

test('a body that never declares its length is cut off at the bound', async () => {
  const { door } = open();
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(0x20));
    },
  });
  const request = new Request('http://sallyport/v1/operations/notes.list', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: endless,
    duplex: 'half',
  });
  expect((await door.request(request)).status).toBe(400);
  expect(sent).toBeLessThan(maxBodyBytes + 4 * 65_536);
});

test('[SEC-1] an operator operation without a proof is refused', async () => {
  const { post, dispatch } = open();
  expect(await post('/v1/operations/notes.add', { input: { text: 'hi' } })).toMatchObject({
    status: 403,
    body: { error: { code: 'operator.proof_required' } },
  });
  expect(dispatch.journal).toEqual([]);
});

test('an unknown route is 404 in the same shape', async () => {
  const { door } = open();
  const response = await door.request('/v2/anything');
  expect([response.status, await response.json()]).toEqual([
    404,
    { error: { kind: 'not_found', code: 'http.not_found', message: 'there is nothing here' } },
  ]);
});

test('[SECRET-2] secrets reach the dispatch as bytes, and are no part of the input', async () => {
  const { dispatch, log } = open();
  const seen: unknown[] = [];
  const operate: typeof dispatch.operate = (_caller, name, input, _signal, secrets) => {
    seen.push({ name, input, value: new TextDecoder().decode(secrets?.['value']?.value), salt: secrets?.['value']?.salt.length });
    return Promise.resolve({});
  };
  const door = createLocalDoor({ dispatch: { ...dispatch, operate }, log, status: () => ({}) });
  const value = { value: Buffer.from('cAnArY-door').toString('base64url'), salt: 'A'.repeat(43) };
  const body = JSON.stringify({ input: { limit: 1 }, secrets: { value } });
  await door.request('/v1/operations/notes.list', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(seen).toEqual([{ name: 'notes.list', input: { limit: 1 }, value: 'cAnArY-door', salt: 32 }]);
});

test('[SECRET-3] secrets that are malformed, or come where none belong, are refused without repeating them', async () => {
  const { post, log } = open();
  const salt = 'A'.repeat(43);
  const bad: [string, object][] = [
    ['notes.list', { value: { value: 'cAnArY+door/', salt } }],
    ['notes.list', { value: { value: 'cAnArY-door', salt: 'short' } }],
    ['notes.list', { value: { value: 'cAnArY-door', salt, more: 'cAnArY' } }],
    ['notes.list', { 'cAnArY-Name': { value: 'AAAA', salt } }],
    ['notes.list', { value: 'cAnArY-door' }],
    ['notes.add/prepare', { value: { value: 'cAnArY-door', salt } }],
  ];
  for (const [path, secrets] of bad) {
    const { status, body } = await post(`/v1/operations/${path}`, { input: { text: 'hello' }, secrets });
    expect([status, (body['error'] as { code: string }).code]).toEqual([400, 'http.bad_request']);
    expect(JSON.stringify(body) + log.lines.join('')).not.toContain('cAnArY');
  }
});
