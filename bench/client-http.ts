// MCP sessions over Streamable HTTP (2025-11-25) on node:http, one kept-alive connection each, as real clients hold them.
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import type { HttpTarget } from './arm.ts';
import { assertAnswered, initializeParams, protocolVersion, type Door, type Session } from './client.ts';

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Headers = Record<string, string>;

function exchange(url: URL, agent: Agent, method: string, headers: Headers, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { agent, method, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function openSession(url: URL, target: HttpTarget): Promise<Session> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers: Headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (target.token !== undefined) headers['authorization'] = `Bearer ${target.token}`;
  const post = (message: object): Promise<Reply> =>
    exchange(url, agent, 'POST', headers, JSON.stringify({ jsonrpc: '2.0', ...message }));

  const opened = await post({ id: 0, method: 'initialize', params: initializeParams });
  if (opened.status !== 200) throw new Error(`initialize answered ${opened.status}: ${opened.body.toString('utf8', 0, 400)}`);
  const id = opened.headers['mcp-session-id'];
  if (typeof id === 'string') headers['mcp-session-id'] = id;
  headers['mcp-protocol-version'] = protocolVersion;
  await post({ method: 'notifications/initialized' });

  let nextId = 1;
  return {
    call: async (tool, size) => {
      const { status, body } = await post({
        id: nextId++,
        method: 'tools/call',
        params: { name: target.tools[tool], arguments: { size } },
      });
      if (status !== 200) throw new Error(`tools/call answered ${status}: ${body.toString('utf8', 0, 400)}`);
      assertAnswered(body, size);
    },
    close: async () => {
      if (typeof id === 'string') await exchange(url, agent, 'DELETE', headers);
      agent.destroy();
    },
  };
}

export function httpDoor(target: HttpTarget): Door {
  const url = new URL(target.url);
  return { open: () => openSession(url, target), close: () => {} };
}
