import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { oddResult } from '../../test/fixtures/odd-result.ts';
import { failure } from '../../test/support/fleet-home.ts';
import { callOn, connect, connectorOf, fixtureOf } from '../../test/support/http-upstream.ts';
import type { AppError } from '../kernel/errors.ts';

describe('a session over Streamable HTTP', () => {
  test('[HTTPUP-1] begins with a handshake, is named in every request after it, and ends with DELETE', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url, { headers: { 'x-team': 'blue' } });
    expect(connection).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'http-fixture' }, perSession: true });
    expect(connection.pid).toBeUndefined();
    expect(await callOn(connection, 'echo', { message: 'hi' })).toMatchObject({ value: { content: [{ text: 'hi' }] } });
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
    expect(await callOn(await connect(fixture.url), 'odd')).toMatchObject({ kind: 'result', json: oddResult });
  });

  test('[HTTPUP-2] relays 1,000 notices of one chunk in order and before their result', async () => {
    const connection = await connect((await fixtureOf()).url);
    const seen: unknown[] = [];
    await callOn(connection, 'burst', { count: 1_000 }, { onProgress: (note) => seen.push(note['progress']) });
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1));
  });

  test('[HTTPUP-2] takes a result of a megabyte, and refuses what is beyond its bound', async () => {
    const fixture = await fixtureOf();
    const reply = await callOn(await connect(fixture.url), 'big', { bytes: 1_000_000 });
    expect(reply.json.length).toBeGreaterThan(1_000_000);
    for (const writes of ['json', 'stream'] as const) {
      fixture.writes = writes;
      const narrow = await connect(fixture.url, { connector: connectorOf(100_000) });
      expect(await failure(callOn(narrow, 'big', { bytes: 200_000 }))).toMatchObject({
        code: 'fleet.protocol',
        data: { sent: true },
      });
      expect(await callOn(narrow, 'echo', { message: 'still here' })).toMatchObject({ kind: 'result' });
    }
  });

  test('[HTTPUP-21] its ping in the middle of a call is answered, and what nobody is there for is refused', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    const reply = await callOn(connection, 'nags');
    const said = (reply.kind === 'result' ? reply.value['content'] : undefined) as readonly { text: string }[];
    expect(JSON.parse(said[0]?.text ?? '')).toEqual([
      { jsonrpc: '2.0', id: 'ping', result: {} },
      { jsonrpc: '2.0', id: 'sample', error: { code: -32_601, message: 'Method not found: sampling/createMessage' } },
    ]);
  });

  test('[HTTPUP-3] a call past its deadline is cancelled under its own id, and its connection is closed', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    const error = await failure(callOn(connection, 'sleep', { ms: 2_000 }, { timeoutMs: 100 }));
    expect(error).toMatchObject({ code: 'fleet.timeout', data: { sent: true } });
    const stop = new AbortController();
    const calling = failure(callOn(connection, 'sleep', { ms: 2_000 }, { signal: stop.signal }));
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
    expect(await failure(callOn(connection, 'cut'))).toMatchObject({ code: 'fleet.failed', data: { sent: true } });
    expect(fixture.counts.calls).toBe(1);
  });

  test('[HTTPUP-4] where the stream has a position its rest is asked for, without the call being made again', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    expect(await callOn(connection, 'resumable')).toMatchObject({ kind: 'result', value: { content: [{ text: 'after all' }] } });
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
    const error = await failure(callOn(connection, 'echo'));
    expect(error).toMatchObject({ code: 'fleet.session_lost', data: { sent: false } });
    expect(await connection.closed).toMatchObject({ lost: expect.any(String) as string });
    expect(await failure(callOn(connection, 'echo'))).toMatchObject({ code: 'fleet.session_lost' });
  });

  test('[HTTPUP-5] a session that only gets HTTP 500 any more is given up, but what was sent is not said to be unsent', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    fixture.lost = () => ({ status: 500, body: 'no such session' });
    fixture.forget();
    expect(await failure(callOn(connection, 'echo'))).toMatchObject({ code: 'fleet.failed', data: { sent: true } });
    expect(await connection.closed).toMatchObject({ lost: 'HTTP 500' });
  });

  test.each([-32_600, -32_000, -32_001, -32_602, -32_050])(
    '[HTTPUP-5] error %i of a tool is its answer while the session lives',
    async (code) => {
      const fixture = await fixtureOf();
      const connection = await connect(fixture.url);
      expect(await callOn(connection, 'fails', { code })).toMatchObject({ kind: 'error', code });
      expect(await callOn(connection, 'status', { code: 400 }).catch((error: AppError) => error)).toMatchObject({
        code: 'fleet.refused',
        message: 'The upstream answered with HTTP 400.',
      });
      expect(await callOn(connection, 'echo')).toMatchObject({ kind: 'result' });
      expect(fixture.counts.initializes).toBe(1);
    },
  );

  test.each([
    [429, 'fleet.refused', false, 7_000],
    [503, 'fleet.refused', false, 7_000],
    [500, 'fleet.failed', true, 7_000],
    [502, 'fleet.failed', true, 7_000],
    [413, 'fleet.refused', false, 7_000],
    [401, 'fleet.auth_broken', false, undefined],
    [403, 'fleet.auth_broken', false, undefined],
  ])('[HTTPUP-6] HTTP %i of a call is %s', async (code, expected, sent, retryAfterMs) => {
    const connection = await connect((await fixtureOf()).url);
    const error = await failure(callOn(connection, 'status', { code }));
    expect(error).toMatchObject({ kind: 'unavailable', code: expected, data: { sent, status: code } });
    expect(error.retryAfterMs).toBe(retryAfterMs);
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
    await fixtureOf({ port: fixture.port, sessions: fixture.sessions, counts: fixture.counts });
    await expect.poll(() => fixture.counts.streams, { timeout: 5_000 }).toBe(2);
    notify();
    await expect.poll(() => heard.length).toBe(2);
  });

  test('[HTTPUP-7] an upstream without such a stream is served all the same, and is not asked for it again', async () => {
    const fixture = await fixtureOf({ gate: ({ method }) => (method === 'GET' ? { status: 405 } : undefined) });
    const connection = await connect(fixture.url, { listens: true });
    await sleep(50);
    expect(await callOn(connection, 'echo')).toMatchObject({ kind: 'result' });
    expect(fixture.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });
});
