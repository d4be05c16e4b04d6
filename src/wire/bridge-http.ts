// One HTTP exchange of the bridge with the daemon: the request with the token on it, and the messages an answer holds, one by one as
// they come. Knows no era and no order of requests.
import type { IncomingMessage } from 'node:http';
import { errorIn, targetOf, textOf, type DaemonAddress, type LinkFault } from './bridge-target.ts';
import { statusFault } from './bridge-faults.ts';
import { rpcCode } from './jsonrpc.ts';
import { createEventReader } from './sse.ts';

export interface DaemonHttp {
  /** The address as the user configured it. */
  readonly where: string;
  /** Resolves with the head of the answer; aborting cuts the exchange at any moment. */
  send(
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage>;
  /** Why a status with this body is no answer. */
  fault(status: number, body: string): LinkFault;
  /** Ends every connection. */
  close(): void;
}

const maxEventLength = 1 << 28;

export function createDaemonHttp(address: DaemonAddress, token: string): DaemonHttp {
  const where = 'url' in address ? address.url : address.socketPath;
  const target = targetOf(address);
  return {
    where,
    send(method, headers, body, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const outgoing = target.request(
        {
          ...target.options,
          agent: target.agent,
          method,
          signal,
          headers: {
            authorization: `Bearer ${token}`,
            accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
            ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
            ...headers,
          },
        },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.end(body);
      return promise;
    },
    fault(status, body) {
      const error = errorIn(body);
      return { code: error?.code ?? rpcCode.serverError, message: statusFault(status, error?.message, where) };
    },
    close: () => target.agent.destroy(),
  };
}

export function isEventStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** Waits for `onMessage` before it reads on, so that a client which does not read holds the daemon back too. */
export async function handOver(incoming: IncomingMessage, onMessage: (text: string) => Promise<void>): Promise<void> {
  if (!isEventStream(incoming)) {
    const text = await textOf(incoming);
    if (text !== '') await onMessage(text);
    return;
  }
  let messages: string[] = [];
  const reader = createEventReader({ maxLength: maxEventLength, onData: (data) => messages.push(data) });
  for await (const chunk of incoming) {
    reader.push(chunk as Uint8Array);
    const arrived = messages;
    messages = [];
    for (const message of arrived) await onMessage(message);
  }
}

/** A connection that never stood carried nothing. */
export function wasSent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== 'connect';
}
