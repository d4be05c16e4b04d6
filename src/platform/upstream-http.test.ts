import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { failure } from '../../test/support/fleet-home.ts';
import { callOn, connect, connectorOf, constantly, fixtureOf } from '../../test/support/http-upstream.ts';
import { selfSigned } from '../../test/support/self-signed.ts';

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

  test('[HTTPUP-8] a revision that is refused although it is supported is offered once more', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const error = { code: -32_022, message: 'Unsupported', data: { requested: '2026-07-28', supported: ['2026-07-28'] } };
    let refusals = 0;
    fixture.gate = ({ message }) =>
      (refusals += 1) > 1 ? undefined : { status: 400, body: JSON.stringify({ jsonrpc: '2.0', id: message?.id, error }) };
    expect(await connect(fixture.url)).toMatchObject({ protocolVersion: '2026-07-28' });
    expect(fixture.seen.map(({ message }) => message?.method)).toEqual(['server/discover', 'server/discover']);
  });

  test('[HTTPUP-9] the first HTTP transport is spoken where the others are refused', async () => {
    const fixture = await fixtureOf({ era: 'legacy' });
    const connection = await connect(fixture.url);
    expect(connection.protocolVersion).toBe('2024-11-05');
    expect(await callOn(connection, 'login', { user: 'ada' })).toMatchObject({ kind: 'result' });
    expect(await callOn(connection, 'whoami')).toMatchObject({ value: { content: [{ text: 'ada' }] } });
    const slow = failure(callOn(connection, 'sleep', { ms: 2_000 }));
    await sleep(50);
    await fixture.stop();
    expect(await slow).toMatchObject({ code: 'fleet.failed', data: { sent: true } });
    expect(await connection.closed).toMatchObject({ lost: expect.any(String) as string });
  });

  test('[HTTPUP-9] an endpoint on another origin is not followed', async () => {
    const url = await constantly((response) => {
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
    const login = await failure(connect(await constantly((response) => void response.writeHead(401).end('who?'))));
    expect(login).toMatchObject({ code: 'fleet.auth_broken', message: expect.stringContaining('HTTP 401') as string });
    let asked = 0;
    const target = await constantly((response) => {
      asked += 1;
      response.end();
    });
    const moved = await failure(
      connect(await constantly((response) => void response.writeHead(307, { location: `${target}?token=t` }).end())),
    );
    expect(moved).toMatchObject({ code: 'fleet.refused' });
    expect(moved.message).toContain(`redirects to ${target} (HTTP 307); redirects are not followed`);
    expect(moved.message).not.toContain('token=');
    expect(asked).toBe(0);
    const page = await failure(
      connect(await constantly((response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))),
    );
    expect(page).toMatchObject({ code: 'fleet.start_failed', message: expect.stringContaining("type 'text/html'") as string });
    const mute = await failure(connect(await constantly(() => undefined), { startTimeoutMs: 400 }));
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
    expect(await callOn(connection, 'echo')).toMatchObject({ kind: 'result' });
  });

  test('[HTTPUP-4] positions and session names that no header can carry are not sent back', async () => {
    const fixture = await fixtureOf();
    const connection = await connect(fixture.url);
    expect(await failure(callOn(connection, 'resumable', { position: 'caf\u00e9 \u{1F6AA}' }))).toMatchObject({
      code: 'fleet.failed',
    });
    const odd = await constantly((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'n\u00e4me' }).end('{}');
    });
    expect((await failure(connect(odd))).message).toContain('a name that no header can carry');
  });
});
