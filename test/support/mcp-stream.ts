// A request to the agent door whose answer is read event by event, as it comes.
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { createEventReader } from '../../src/wire/sse.ts';
import type { TestDoor } from './agent-door.ts';

export interface OpenStream {
  readonly status: number;
  readonly contentType: string | undefined;
  /** Data of the events so far. */
  readonly events: unknown[];
  readonly ended: Promise<void>;
  /** Drops the connection. */
  drop(): void;
}

export function openStream(
  { url }: Pick<TestDoor, 'url'>,
  session: string,
  options: { readonly body?: string; readonly token?: string } = {},
): Promise<OpenStream> {
  const { body, token = 'token-kimi' } = options;
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(
      {
        host: url.hostname,
        port: url.port,
        path: url.pathname,
        method: body === undefined ? 'GET' : 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${token}`,
          'mcp-session-id': session,
        },
      },
      (incoming: IncomingMessage) => {
        const events: unknown[] = [];
        const reader = createEventReader({ maxLength: 1 << 24, onData: (data) => events.push(JSON.parse(data)) });
        incoming.on('data', (chunk: Buffer) => reader.push(chunk));
        incoming.on('error', () => undefined);
        const ended = new Promise<void>((done) => void incoming.on('close', done));
        resolve({
          status: incoming.statusCode ?? 0,
          contentType: incoming.headers['content-type'],
          events,
          ended,
          drop: () => outgoing.destroy(),
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
