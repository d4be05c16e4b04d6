// An agent as a raw MCP client over HTTP with a kept-alive connection: no SDK, so that it can be fast, rude and exact.
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { createEventReader } from '../../src/wire/sse.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** The JSON envelope of a failed call, where the text is one. */
  readonly envelope: { readonly kind?: string; readonly message?: string } | undefined;
}

export interface AgentClient {
  readonly session: string;
  /** One message as it is, with the headers of this session. */
  send(body: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  rpc(method: string, params?: object): Promise<{ result?: Record<string, unknown>; error?: { code: number; message: string } }>;
  call(name: string, args?: object): Promise<ToolResult>;
  toolNames(): Promise<string[]>;
  /** DELETE, then the connections. */
  close(): Promise<void>;
  /** The connections only, as a client that was killed. */
  drop(): void;
}

export interface Sending {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly agent?: Agent | false;
}

export function exchange(url: string | URL, { method = 'POST', headers = {}, body, agent = false }: Sending): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method, agent, headers: { ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export async function connectAgent(url: string, token: string, sockets = 1): Promise<AgentClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
  };
  const send: AgentClient['send'] = (body, more = {}) => exchange(url, { headers: { ...headers, ...more }, body, agent });
  let next = 0;

  const rpc: AgentClient['rpc'] = async (method, params) => {
    const {
      status,
      headers: got,
      body,
    } = await send(JSON.stringify({ jsonrpc: '2.0', id: (next += 1), method, ...(params && { params }) }));
    if (status !== 200) throw new Error(`${method} answered ${status}: ${body.slice(0, 400)}`);
    return JSON.parse(got['content-type']?.startsWith('text/event-stream') === true ? lastEvent(body) : body) as Awaited<
      ReturnType<AgentClient['rpc']>
    >;
  };

  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const opened = await send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }));
  const session = opened.headers['mcp-session-id'];
  if (opened.status !== 200 || typeof session !== 'string') {
    agent.destroy();
    throw new Error(`no session: ${opened.status} ${opened.body}`);
  }
  headers['mcp-session-id'] = session;
  await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));

  return {
    session,
    send,
    rpc,
    async call(name, args) {
      const { result, error } = await rpc('tools/call', { name, ...(args && { arguments: args }) });
      if (error !== undefined) return { text: `${error.code} ${error.message}`, isError: true, envelope: undefined };
      const { content = [], isError = false } = result as { content?: { text?: string }[]; isError?: boolean };
      const text = content.map((part) => part.text ?? '').join('\n');
      return { text, isError, envelope: isError ? envelopeOf(text) : undefined };
    },
    async toolNames() {
      const { result } = await rpc('tools/list', {});
      return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    },
    async close() {
      await exchange(url, { method: 'DELETE', headers, agent }).catch(() => undefined);
      agent.destroy();
    },
    drop: () => agent.destroy(),
  };
}

function lastEvent(body: string): string {
  let last = '';
  createEventReader({ maxLength: 1 << 26, onData: (data) => (last = data) }).push(Buffer.from(body));
  return last;
}

function envelopeOf(text: string): ToolResult['envelope'] {
  try {
    return JSON.parse(text) as ToolResult['envelope'];
  } catch {
    return undefined;
  }
}
