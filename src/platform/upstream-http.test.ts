import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HttpFixture } from '../../test/fixtures/http-fixture.ts';
import { startHttpFixture } from '../../test/fixtures/http-server.ts';
import { oddResult } from '../../test/fixtures/odd-result.ts';
import { selfSigned } from '../../test/support/self-signed.ts';
import type { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { HttpConnector, UpstreamConnection, UpstreamRequestOptions } from '../kernel/ports.ts';
import { createClock } from './clock.ts';
import { createHttpConnector } from './upstream-http.ts';

const signal = new AbortController().signal;
const info = { name: 'gateway', version: '1' };
const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function fixtureOf(more: Parameters<typeof startHttpFixture>[0] = {}): Promise<HttpFixture> {
  const fixture = await startHttpFixture(more);
  open.push({ close: () => fixture.stop() });
  return fixture;
}

function connectorOf(maxBytes?: number): HttpConnector {
  const connector = createHttpConnector({ clock: createClock(), client: info, ...(maxBytes === undefined ? {} : { maxBytes }) });
  open.push(connector);
  return connector;
}

async function connect(
  url: string,
  { connector = connectorOf(), listens = false, key = url, startTimeoutMs = 3_000, headers = {} } = {},
): Promise<UpstreamConnection> {
  const connection = await connector.open({ url, headers, key }, { startTimeoutMs, signal, listens });
  open.push({ close: () => connection.close(500) });
  return connection;
}

const call = (connection: UpstreamConnection, name: string, args: JsonObject = {}, more: Partial<UpstreamRequestOptions> = {}) => {
  const subject = { name, args, definition: '{}' };
  return connection.request('tools/call', JSON.stringify({ name, arguments: args }), {
    signal,
    timeoutMs: 3_000,
    subject,
    ...more,
  });
};

const failure = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.unreachable('it succeeded'),
    (error: AppError) => error,
  );

/** A server that answers everything alike. */
async function constant(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe('a session over Streamable HTTP', () => {
  test('[HTTPUP-1] begins with a handshake, is named in every request after it, and ends with DELETE', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url, { headers: { 'x-team': 'blue' } });
    expect(connection).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'http-fixture' }, perSession: true });
    expect(connection.pid).toBeUndefined();
    expect(await call(connection, 'echo', { message: 'hi' })).toMatchObject({ value: { content: [{ text: 'hi' }] } });
    const [id] = fixture.sessions.keys();
    await connection.close(500);
    const after = fixture.seen.filter(({ message }) => message?.method !== 'server/discover').slice(1);
    expect(after.map(({ method, message }) => message?.method ?? method)).toEqual([
      'notifications/initialized',
      'tools/call',
      'DELETE',
    ]);
    for (const { headers } of after) {
      expect(headers).toMatchObject({ 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25', 'x-team': 'blue' });
    }
    expect(fixture.sessions.size).toBe(0);
  });

  test.each(['json', 'stream'] as const)('[HTTPUP-2] gives back the very bytes of a result written as %s', async (writes) => {
    const fixture = await fixtureOf({ writes });
    expect(await call(await connect(fixture.url), 'odd')).toMatchObject({ kind: 'result', json: oddResult });
  });

  test('[HTTPUP-2] relays 1,000 notices of one chunk in order and before their result', async () => {
    const connection = await connect((await fixtureOf()).url);
    const seen: unknown[] = [];
    await call(connection, 'burst', { count: 1_000 }, { onProgress: (note) => seen.push(note['progress']) });
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1));
  });

  test('[HTTPUP-2] takes a result of a megabyte, and refuses what is beyond its bound', async () => {
    const fixture = await fixtureOf();
    const reply = await call(await connect(fixture.url), 'big', { bytes: 1_000_000 });
    expect(reply.json.length).toBeGreaterThan(1_000_000);
    for (const writes of ['json', 'stream'] as const) {
      fixture.writes = writes;
      const narrow = await connect(fixture.url, { connector: connectorOf(100_000) });
      expect(await failure(call(narrow, 'big', { bytes: 200_000 }))).toMatchObject({
        code: 'fleet.protocol',
        data: { sent: true },
      });
      expect(await call(narrow, 'echo', { message: 'still here' })).toMatchObject({ kind: 'result' });
    }
  });

  test('[HTTPUP-21] its ping in the middle of a call is answered, and what nobody is there for is refused', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    const reply = await call(connection, 'nags');
    const said = (reply.kind === 'result' ? reply.value['content'] : undefined) as readonly { text: string }[];
    expect(JSON.parse(said[0]?.text ?? '')).toEqual([
      { jsonrpc: '2.0', id: 'ping', result: {} },
      { jsonrpc: '2.0', id: 'sample', error: { code: -32_601, message: 'Method not found: sampling/createMessage' } },
    ]);
  });

  test('[HTTPUP-3] a call past its deadline is cancelled under its own id, and its connection is closed', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    const error = await failure(call(connection, 'sleep', { ms: 2_000 }, { timeoutMs: 100 }));
    expect(error).toMatchObject({ code: 'fleet.timeout', data: { sent: true } });
    const stop = new AbortController();
    const calling = failure(call(connection, 'sleep', { ms: 2_000 }, { signal: stop.signal }));
    setTimeout(() => stop.abort(), 50);
    expect(await calling).toMatchObject({ code: 'fleet.cancelled' });
    await sleep(50);
    const asked = fixture.seen.filter(({ message }) => message?.method === 'tools/call').map(({ message }) => message?.id);
    const told = fixture.seen
      .filter(({ message }) => message?.method === 'notifications/cancelled')
      .map(({ message }) => message?.params?.['requestId']);
    expect(told).toEqual(asked);
  });

  test('[HTTPUP-4] a connection that breaks in the middle of a call leaves its outcome unknown, and the call is not repeated', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    expect(await failure(call(connection, 'cut'))).toMatchObject({ code: 'fleet.failed', data: { sent: true } });
    expect(fixture.counts.calls).toBe(1);
  });

  test('[HTTPUP-4] where the stream has a position its rest is asked for, without the call being made again', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    expect(await call(connection, 'resumable')).toMatchObject({ kind: 'result', value: { content: [{ text: 'after all' }] } });
    expect(fixture.counts.calls).toBe(1);
    expect(fixture.seen.at(-1)).toMatchObject({ method: 'GET', headers: { 'last-event-id': 'e1' } });
  });

  test.each([
    [404, undefined],
    [404, -32_001],
    [400, undefined],
    [400, -32_000],
    [400, -32_600],
    [200, -32_600],
    [200, -32_603],
    [422, -32_099],
  ])('[HTTPUP-5] a session lost with HTTP %i and error %s is told as lost, and nothing was sent', async (status, code) => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    fixture.lost = (message) => ({
      status,
      ...(code === undefined
        ? { body: 'gone' }
        : { body: JSON.stringify({ jsonrpc: '2.0', id: message?.id ?? null, error: { code, message: 'Session not found' } }) }),
    });
    fixture.forget();
    const error = await failure(call(connection, 'echo'));
    expect(error).toMatchObject({ code: 'fleet.session_lost', data: { sent: false } });
    expect(await connection.closed).toMatchObject({ lost: expect.any(String) as string });
    expect(await failure(call(connection, 'echo'))).toMatchObject({ code: 'fleet.session_lost' });
  });

  test('[HTTPUP-5] a session that only gets HTTP 500 any more is given up, but what was sent is not said to be unsent', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    fixture.lost = () => ({ status: 500, body: 'no such session' });
    fixture.forget();
    expect(await failure(call(connection, 'echo'))).toMatchObject({ code: 'fleet.failed', data: { sent: true } });
    expect(await connection.closed).toMatchObject({ lost: 'HTTP 500' });
  });

  test.each([-32_600, -32_000, -32_001, -32_602, -32_050])(
    '[HTTPUP-5] error %i of a tool is its answer while the session lives',
    async (code) => {
      const fixture = await fixtureOf();
      const connection = await connect(fixture.url);
      expect(await call(connection, 'fails', { code })).toMatchObject({ kind: 'error', code });
      expect(await call(connection, 'status', { code: 400 }).catch((error: AppError) => error)).toMatchObject({
        code: 'fleet.refused',
        message: 'The upstream answered with HTTP 400.',
      });
      expect(await call(connection, 'echo')).toMatchObject({ kind: 'result' });
      expect(fixture.counts.initializes).toBe(1);
    },
  );

  test.each([
    [429, 'fleet.refused', false],
    [503, 'fleet.refused', false],
    [500, 'fleet.failed', true],
    [502, 'fleet.failed', true],
    [413, 'fleet.refused', false],
    [401, 'fleet.auth_broken', false],
    [403, 'fleet.auth_broken', false],
  ])('[HTTPUP-6] HTTP %i of a call is %s', async (code, expected, sent) => {
    const connection = await connect((await fixtureOf()).url);
    const error = await failure(call(connection, 'status', { code }));
    expect(error).toMatchObject({ kind: 'unavailable', code: expected, data: { sent, status: code } });
    if (code === 429 || code >= 500) expect(error.retryAfterMs).toBe(7_000);
  });

  test('[HTTPUP-7] what the upstream tells on its stream is heard, also after the stream broke', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url, { listens: true });
    const heard: string[] = [];
    connection.onNotification((method) => heard.push(method));
    const notify = (): void =>
      [...fixture.sessions.values()][0]?.notify?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await expect.poll(() => fixture.counts.streams).toBe(1);
    notify();
    await expect.poll(() => heard).toEqual(['notifications/tools/list_changed']);
    await fixture.stop();
    open.push(
      await startHttpFixture({ port: fixture.port, sessions: fixture.sessions, counts: fixture.counts }).then((again) => ({
        close: () => again.stop(),
      })),
    );
    await expect.poll(() => fixture.counts.streams, { timeout: 5_000 }).toBe(2);
    notify();
    await expect.poll(() => heard.length).toBe(2);
  });

  test('[HTTPUP-7] an upstream without such a stream is served all the same, and is not asked for it again', async () => {
    const fixture = await fixtureOf({ gate: ({ method }) => (method === 'GET' ? { status: 405 } : undefined) });
    const connection = await connect(fixture.url, { listens: true });
    await sleep(50);
    expect(await call(connection, 'echo')).toMatchObject({ kind: 'result' });
    expect(fixture.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });
});

describe('opening an upstream over HTTP', () => {
  test('[HTTPUP-8] probes for 2026 first, and remembers what was found', async () => {
    const [old, modern] = [await fixtureOf(), await fixtureOf({ era: 'stateless' })];
    const connector = connectorOf();
    for (const { url } of [old, modern]) for (let times = 0; times < 3; times += 1) await connect(url, { connector });
    expect(old.seen.filter(({ message }) => message?.method === 'server/discover')).toHaveLength(1);
    expect(old.counts.initializes).toBe(3);
    expect(modern.counts).toMatchObject({ discovers: 3, initializes: 0 });
    expect(modern.seen.every(({ message }) => message?.method === 'server/discover')).toBe(true);
  });

  test('[HTTPUP-8] an upstream that changed its dialect is understood again', async () => {
    const fixture = await fixtureOf();
    const connector = connectorOf();
    expect(await connect(fixture.url, { connector })).toMatchObject({ protocolVersion: '2025-11-25' });
    fixture.era = 'stateless';
    expect(await connect(fixture.url, { connector })).toMatchObject({ protocolVersion: '2026-07-28', perSession: false });
    fixture.era = 'legacy';
    expect(await connect(fixture.url, { connector })).toMatchObject({ protocolVersion: '2024-11-05', perSession: true });
    fixture.era = 'session';
    expect(await connect(fixture.url, { connector })).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  test('[HTTPUP-9] the first HTTP transport is spoken where the others are refused', async () => {
    const fixture = await fixtureOf({ era: 'legacy' });
    const connection = await connect(fixture.url);
    expect(connection.protocolVersion).toBe('2024-11-05');
    expect(await call(connection, 'login', { user: 'ada' })).toMatchObject({ kind: 'result' });
    expect(await call(connection, 'whoami')).toMatchObject({ value: { content: [{ text: 'ada' }] } });
    const slow = failure(call(connection, 'sleep', { ms: 2_000 }));
    await sleep(50);
    await fixture.stop();
    expect(await slow).toMatchObject({ code: 'fleet.failed', data: { sent: true } });
    expect(await connection.closed).toMatchObject({ lost: expect.any(String) as string });
  });

  test('[HTTPUP-9] an endpoint on another origin is not followed', async () => {
    const url = await constant((response) => {
      if (response.req.method !== 'GET') {
        response.writeHead(405).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: https://example.org/steal\n\n');
    });
    expect((await failure(connect(url))).message).toContain('HTTP 405');
  });

  test('[HTTPUP-6] one that is not there is told at once and by its origin', async () => {
    const fixture = await fixtureOf();
    await fixture.stop();
    const startedAt = performance.now();
    const error = await failure(connect(fixture.url));
    expect(error).toMatchObject({ kind: 'unavailable', code: 'fleet.unreachable', data: { sent: false } });
    expect(error.message).toContain(`http://127.0.0.1:${fixture.port}: the connection was refused`);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test('[HTTPUP-6] one that wants a login, redirects, is no MCP server or never answers is told as such', async () => {
    const login = await failure(connect(await constant((response) => void response.writeHead(401).end('who?'))));
    expect(login).toMatchObject({ code: 'fleet.auth_broken', message: expect.stringContaining('HTTP 401') as string });
    let asked = 0;
    const target = await constant((response) => {
      asked += 1;
      response.end();
    });
    const moved = await failure(
      connect(await constant((response) => void response.writeHead(307, { location: `${target}?token=t` }).end())),
    );
    expect(moved).toMatchObject({ code: 'fleet.refused' });
    expect(moved.message).toContain(`redirects to ${target} (HTTP 307); redirects are not followed`);
    expect(moved.message).not.toContain('token=');
    expect(asked).toBe(0);
    const page = await failure(
      connect(await constant((response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))),
    );
    expect(page).toMatchObject({ code: 'fleet.start_failed', message: expect.stringContaining("type 'text/html'") as string });
    const mute = await failure(connect(await constant(() => undefined), { startTimeoutMs: 400 }));
    expect(mute).toMatchObject({ code: 'fleet.start_failed', message: expect.stringContaining('within 400 ms') as string });
  });

  test('[HTTPUP-6] a certificate that nobody vouches for is refused before a word is said, also where the environment would allow it', async () => {
    let asked = 0;
    const server = createSecureServer(selfSigned(), (_request, response) => {
      asked += 1;
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const error = await failure(connect(`https://localhost:${(server.address() as AddressInfo).port}/mcp`));
    expect(error).toMatchObject({ code: 'fleet.unreachable', data: { sent: false } });
    expect(error.message).toContain('its TLS certificate is not accepted');
    expect(asked).toBe(0);
  });

  test('[HTTPUP-1] one that lets the notice of the handshake hang is not waited for', { timeout: 10_000 }, async () => {
    const fixture = await fixtureOf();
    fixture.gate = ({ message }) => (message?.method === 'notifications/initialized' ? { status: 0 } : undefined);
    const connection = await connect(fixture.url);
    expect(await call(connection, 'echo')).toMatchObject({ kind: 'result' });
  });

  test('[HTTPUP-4] positions and session names that no header can carry are not sent back', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    expect(await failure(call(connection, 'resumable', { position: 'caf\u00e9 \u{1F6AA}' }))).toMatchObject({
      code: 'fleet.failed',
    });
    const odd = await constant((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'n\u00e4me' }).end('{}');
    });
    expect((await failure(connect(odd))).message).toContain('a name that no header can carry');
  });
});

describe('an upstream of 2026-07-28', () => {
  const mark = JSON.stringify({
    name: 'routed',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, n: { type: 'integer' } } },
  });

  test('[HTTPUP-10] gets the envelope, and in headers what the body says', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const args = { region: 'Zürich', n: 1 };
    const params = JSON.stringify({ name: 'routed', arguments: args, _meta: { trace: 't' }, extra: [1] });
    await connection.request('tools/call', params, {
      signal,
      timeoutMs: 3_000,
      subject: { name: 'routed', args, definition: mark },
    });
    const seen = fixture.seen.at(-1);
    expect(seen?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'routed',
      'mcp-param-region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
    });
    expect(seen?.headers['mcp-session-id']).toBeUndefined();
    expect(seen?.message?.params).toEqual({
      name: 'routed',
      arguments: args,
      extra: [1],
      _meta: {
        trace: 't',
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': info,
      },
    });
  });

  test('[HTTPUP-10] is shown what the caller can do, and no more', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const client = { capabilities: { elicitation: { form: {} } }, info: { name: 'agent', version: '2' } };
    await call(connection, 'echo', { message: 'x' }, { client });
    expect(fixture.seen.at(-1)?.message?.params?.['_meta']).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': client.capabilities,
      'io.modelcontextprotocol/clientInfo': client.info,
    });
  });

  test('[HTTPUP-11] what it asks back goes to a caller of 2026 as it is, and is an error for one of 2025', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const client = { capabilities: { elicitation: {} }, info: undefined };
    const asked = await call(connection, 'asks', {}, { client });
    expect(asked).toMatchObject({ kind: 'result', value: { resultType: 'input_required', requestState: 'stäte' } });
    const again = { name: 'asks', arguments: {}, inputResponses: { q: { action: 'accept' } }, requestState: 'stäte' };
    const subject = { name: 'asks', args: {}, definition: '{}' };
    const done = await connection.request('tools/call', JSON.stringify(again), { signal, timeoutMs: 3_000, client, subject });
    const said = (done.kind === 'result' ? done.value['content'] : undefined) as readonly { text: string }[];
    expect(JSON.parse(said[0]?.text ?? '')).toEqual({ inputResponses: again.inputResponses, requestState: 'stäte' });
    const error = await failure(call(connection, 'asks'));
    expect(error).toMatchObject({ code: 'fleet.input_required', message: expect.stringContaining('further input') as string });
  });

  test('[HTTPUP-10] its errors are its answers, whatever status they come with; closing the exchange cancels a call', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    expect(await connection.request('ping', undefined, { signal, timeoutMs: 1_000 })).toMatchObject({
      kind: 'error',
      code: -32_601,
    });
    const wrong = { subject: { name: 'other', args: {}, definition: '{}' } };
    expect(await call(connection, 'echo', {}, wrong)).toMatchObject({ kind: 'error', code: -32_020 });
    expect(await failure(call(connection, 'sleep', { ms: 1_000 }, { timeoutMs: 50 }))).toMatchObject({ code: 'fleet.timeout' });
    expect(fixture.seen.some(({ message }) => message?.method === 'notifications/cancelled')).toBe(false);
  });

  test('[HTTPUP-7] its subscription tells of a changed list', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url, { listens: true });
    const heard: string[] = [];
    connection.onNotification((method) => heard.push(method));
    await expect.poll(() => fixture.subscriptions.size).toBe(1);
    for (const send of fixture.subscriptions) send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} });
    await expect.poll(() => heard).toContain('notifications/tools/list_changed');
    await connection.close(100);
    await expect.poll(() => fixture.subscriptions.size).toBe(0);
  });
});
