// What tests of upstreams over HTTP need: a fixture, a connector, connections and calls, all gone with the test.
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { HttpConnector, UpstreamConnection, UpstreamReply, UpstreamRequestOptions } from '../../src/kernel/ports.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createHttpConnector } from '../../src/platform/upstream-http.ts';
import type { HttpFixture } from '../fixtures/http-fixture.ts';
import { startHttpFixture } from '../fixtures/http-server.ts';

export const clientInfo = { name: 'gateway', version: '1' };

export async function fixtureOf(more: Parameters<typeof startHttpFixture>[0] = {}): Promise<HttpFixture> {
  const fixture = await startHttpFixture(more);
  onTestFinished(() => fixture.stop());
  return fixture;
}

export function connectorOf(maxBytes?: number): HttpConnector {
  const bound = maxBytes === undefined ? {} : { maxBytes };
  const connector = createHttpConnector({ clock: createClock(), client: clientInfo, ...bound });
  onTestFinished(() => connector.close());
  return connector;
}

export async function connect(
  url: string,
  { connector = connectorOf(), listens = false, key = url, startTimeoutMs = 3_000, headers = {} } = {},
): Promise<UpstreamConnection> {
  const { signal } = new AbortController();
  const connection = await connector.open({ url, headers, key }, { startTimeoutMs, signal, listens });
  onTestFinished(() => connection.close(500));
  return connection;
}

export function callOn(
  connection: UpstreamConnection,
  name: string,
  args: JsonObject = {},
  more: Partial<UpstreamRequestOptions> = {},
): Promise<UpstreamReply> {
  const options = { signal: new AbortController().signal, timeoutMs: 3_000, subject: { name, args, definition: '{}' }, ...more };
  return connection.request('tools/call', JSON.stringify({ name, arguments: args }), options);
}

/** The URL of a server that answers everything alike. */
export async function constantly(answer: (response: ServerResponse) => void): Promise<string> {
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
