// HTTP/1.1 exchanges with upstreams over kept connections: plain HTTP in its usual form on sockets of our own, TLS and everything unusual
// through node:http and node:https. Knows no MCP.
import type { Socket } from 'node:net';
import { replayed } from './http-replay.ts';
import type { HttpClient, HttpExchange, HttpReader, HttpRequest } from './http-exchange.ts';
import { createNodeClient } from './http-node-client.ts';
import { createPlainClient } from './http-plain-client.ts';
import { isPlainRequest } from './http-request-text.ts';

export function createHttpClient(): HttpClient {
  const node = createNodeClient();
  const plain = createPlainClient({
    /** An answer that has not the usual form, from its first byte. */
    resume: (request: HttpRequest, reader: HttpReader, socket: Socket, received: Buffer): HttpExchange =>
      node.resume(request, reader, replayed(socket, received)),
  });
  return {
    start: (request, reader) => (isPlainRequest(request) ? plain : node).start(request, reader),
    close() {
      plain.close();
      node.close();
    },
  };
}
