// An upstream over HTTP that does nothing but ask back, in the process of the test: within a session of 2025-11-25, or within its results as
// 2026-07-28 has it. Says what it was told of the client, and keeps what it was answered.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly [field: string]: unknown;
}

export interface AskingUpstream {
  readonly url: string;
  /** Client capabilities as told: at each initialize, or with each call. */
  readonly told: JsonObject[];
  /** Notifications of the client, by method. */
  readonly heard: string[];
  /** Params of tools/call, as they came. */
  readonly calls: JsonObject[];
  /** Runs when a call has come, before it is dealt with. */
  onCall: () => void;
  /** Params of the next question as this text, whatever the call says; `stateless`: the whole result of a call. */
  raw: string | undefined;
  /** `stateless` only: the result of a call by its params; each is given `resultType` where it has none. */
  answers: (params: JsonObject) => JsonObject;
}

const tools = ['ask', 'tell', 'plain'].map((name) => ({ name, description: 'Fixture.', inputSchema: { type: 'object' } }));

/**
 * `session`: `ask {method, params}` sends that request and answers with what came back as text; `tell {method, params}` sends that
 * notification first; `plain` does neither.
 */
export async function askingUpstream(era: 'session' | 'stateless' = 'session'): Promise<AskingUpstream> {
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const waiting = new Map<string, (answer: Message) => void>();
  let asked = 0;
  const upstream: AskingUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    told: [],
    heard: [],
    calls: [],
    onCall: () => undefined,
    raw: undefined,
    answers: () => text('done'),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST') return end(response, 405);
    const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Message;
    if (message.id !== undefined && message.method === undefined) {
      waiting.get(String(message.id))?.(message);
      return end(response, 202);
    }
    if (message.id === undefined) {
      upstream.heard.push(message.method ?? '');
      return end(response, 202);
    }
    if (era === 'stateless') return stateless(message, response);
    if (message.method === 'server/discover') return error(response, message, -32601);
    return session(message, response);
  }

  async function session(message: Message, response: ServerResponse): Promise<void> {
    const { method, params = {} } = message;
    if (method === 'initialize') {
      upstream.told.push(params['capabilities'] as JsonObject);
      response.setHeader('mcp-session-id', randomUUID());
      return reply(response, message, { protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} }, serverInfo });
    }
    if (method === 'tools/list') return reply(response, message, { tools });
    if (method === 'ping') return reply(response, message, {});
    if (method !== 'tools/call') return error(response, message, -32601);
    upstream.calls.push(params);
    upstream.onCall();
    const { method: inner, params: innerParams = {} } = (params['arguments'] ?? {}) as Message;
    if (params['name'] === 'plain') return reply(response, message, text('done'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (frame: object): void => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n\n`);
    if (params['name'] === 'tell') send({ method: inner, params: innerParams });
    else {
      const id = `q${(asked += 1)}`;
      const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
      const asking = `{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(inner)},"params":${upstream.raw ?? JSON.stringify(innerParams)}}`;
      response.write(`data: ${asking}\n\n`);
      const { result, error: refused } = await answer;
      send({ id: message.id, result: text(JSON.stringify(result ?? { error: refused })) });
      response.end();
      return;
    }
    send({ id: message.id, result: text('told') });
    response.end();
  }

  function stateless(message: Message, response: ServerResponse): void {
    const { method, params = {} } = message;
    const meta = (params['_meta'] ?? {}) as JsonObject;
    const complete = { resultType: 'complete' };
    if (method === 'server/discover')
      return reply(response, message, { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    if (method === 'tools/list') return reply(response, message, { ...complete, tools });
    if (method !== 'tools/call') return error(response, message, -32601);
    upstream.calls.push(params);
    upstream.onCall();
    upstream.told.push(meta['io.modelcontextprotocol/clientCapabilities'] as JsonObject);
    const result = upstream.raw ?? JSON.stringify({ ...complete, ...upstream.answers(params) });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`);
  }

  return upstream;
}

export function text(words: string): JsonObject {
  return { content: [{ type: 'text', text: words }] };
}

/** A result that needs more first (schema 2026-07-28, `InputRequiredResult`). */
export function needs(inputRequests: JsonObject, requestState?: string): JsonObject {
  return { resultType: 'input_required', inputRequests, ...(requestState === undefined ? {} : { requestState }) };
}

const serverInfo = { name: 'asking', version: '1' };

function reply(response: ServerResponse, message: Message, result: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
}

function error(response: ServerResponse, message: Message, code: number): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code, message: 'no' } }));
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status);
  response.end();
}
