// An agent door on a free port of loopback with a fake gateway behind it, and a bare HTTP client that knows no MCP.
import { request, type IncomingHttpHeaders } from 'node:http';
import { createAgentDoor } from '../../src/faces/mcp/agent-door.ts';
import { createMcpEndpoint, type AgentDirectory, type McpEndpoint, type McpEndpointDeps } from '../../src/faces/mcp/endpoint.ts';
import type { Log } from '../../src/kernel/ports.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createEntropy } from '../../src/platform/crypto.ts';
import { listenTcp, type Door } from '../../src/app/doors.ts';
import { createHttpServer, type HttpDoorOptions } from '../../src/wire/http-door.ts';
import { createFakeDispatch, type FakeDispatch } from './fake-dispatch.ts';
import { silentLog } from './silent-log.ts';

export const quiet: Log = silentLog();

export interface FakeAgents extends AgentDirectory {
  /** token → agent */
  readonly known: Map<string, { name: string; state: 'active' | 'suspended' | 'revoked' }>;
  ended(name: string): void;
}

export function createFakeAgents(): FakeAgents {
  const listeners = new Set<(name: string) => void>();
  const known: FakeAgents['known'] = new Map([
    ['token-kimi', { name: 'kimi', state: 'active' }],
    ['token-rosa', { name: 'rosa', state: 'active' }],
    ['token-gone', { name: 'gone', state: 'revoked' }],
    ['token-held', { name: 'held', state: 'suspended' }],
  ]);
  return {
    known,
    authenticate: (token) => known.get(token),
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ended(name) {
      for (const listener of listeners) listener(name);
    },
  };
}

export interface TestDoor {
  readonly url: URL;
  readonly door: Door;
  readonly endpoint: McpEndpoint;
  readonly dispatch: FakeDispatch;
  readonly agents: FakeAgents;
  close(): Promise<void>;
}

export async function openTestDoor(
  options: Partial<HttpDoorOptions> = {},
  endpointOptions: Partial<McpEndpointDeps> = {},
  port = 0,
): Promise<TestDoor> {
  const dispatch = createFakeDispatch();
  const agents = createFakeAgents();
  const endpoint = createMcpEndpoint({
    dispatch,
    agents,
    clock: createClock(),
    entropy: createEntropy(),
    log: quiet,
    serverInfo: { name: 'sallyport', version: '0.0.0' },
    instructions: 'Ask before you act.',
    ...endpointOptions,
  });
  const server = createHttpServer({
    allowedHosts: ['127.0.0.1', 'localhost'],
    allowedOrigins: ['https://console.example'],
    handler: createAgentDoor({ endpoint, agents, dispatch }),
    onRefused: ({ reason, ...facts }) => dispatch.refused('agent', reason, facts),
    log: quiet,
    ...options,
  });
  const door = await listenTcp(server, port, 'agent');
  return {
    url: new URL(`http://127.0.0.1:${door.port}/mcp`),
    door,
    endpoint,
    dispatch,
    agents,
    async close() {
      await endpoint.close(0);
      await door.close(0);
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  /** `undefined` takes a header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** One request as kimi, with the headers a good client sends unless others are given. */
export function ask(
  { url }: Pick<TestDoor, 'url'>,
  { method = 'POST', path = '/mcp', headers = {}, body, signal }: Ask,
): Promise<Answer> {
  const all: Record<string, string | undefined> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer token-kimi',
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: sent,
        agent: false,
        ...(signal === undefined ? {} : { signal }),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => {
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks).toString() });
        });
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function rpc(id: number | string, method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
}

export function notice(method: string, params?: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) });
}

export const initialize = rpc('init', 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

/** The session id of a fresh session. */
export async function openSession(door: Pick<TestDoor, 'url'>, token = 'token-kimi', path = '/mcp'): Promise<string> {
  const { headers, status, body } = await ask(door, { path, headers: { authorization: `Bearer ${token}` }, body: initialize });
  const id = headers['mcp-session-id'];
  if (status !== 200 || typeof id !== 'string') throw new Error(`no session: ${status} ${body}`);
  return id;
}
