// The bridge's side of 2026-07-28: every request is an exchange of its own, with the headers that stdio has not. Taking a request back
// closes its exchange. Hands over every message the daemon sends. Knows nothing of stdio.
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../kernel/json.ts';
import { connectionFault } from './bridge-faults.ts';
import { handOver, wasSent, type DaemonHttp } from './bridge-http.ts';
import { createBridgeMirror } from './bridge-mirrored.ts';
import { keepSubscribed } from './bridge-subscription.ts';
import { errorIn, messageIn, textOf, type LinkFault } from './bridge-target.ts';
import { encodeHeaderValue } from './header-value.ts';
import { isObject, rpcCode, type Message } from './jsonrpc.ts';
import { paramHeaders } from './mirrored-params.ts';
import { claimedVersion } from './request-envelope.ts';

type Request = Extract<Message, { kind: 'request' }>;

export interface StatelessLink {
  /** Posts a request and resolves when whatever answers it has been handed over; aborting takes it back, and nothing comes of it. */
  request(line: string, request: Request, signal: AbortSignal): Promise<LinkFault | undefined>;
}

/** What stands in a header as it is; the daemon says what is wrong with anything else. */
const plain = /^[\x21-\x7e]+$/;

export function createStatelessLink(deps: {
  readonly http: DaemonHttp;
  /** One JSON-RPC message; resolves when the next may come. */
  readonly onMessage: (text: string) => Promise<void>;
}): StatelessLink {
  const { http, onMessage } = deps;
  /** What the client last said it speaks: a request that does not say so is refused for that, not for want of a session. */
  let revision: string | undefined;
  const mirror = createBridgeMirror(async (line, params, signal) =>
    textOf(await http.send('POST', headersOf('tools/list', params), line, signal)),
  );

  function headersOf(method: string, params: JsonObject): Record<string, string> {
    const claimed = claimedVersion(params);
    if (typeof claimed === 'string') revision = claimed;
    const name = params['name'] ?? params['uri'] ?? params['taskId'];
    return {
      ...(revision !== undefined && plain.test(revision) ? { 'mcp-protocol-version': revision } : {}),
      ...(plain.test(method) ? { 'mcp-method': method } : {}),
      ...(typeof name === 'string' ? { 'mcp-name': encodeHeaderValue(name) } : {}),
    };
  }

  /** An error has a status of its own; it goes through as it is where it answers the request. */
  async function answered(
    incoming: IncomingMessage,
    { id }: Request,
    give: (text: string) => Promise<void>,
  ): Promise<LinkFault | undefined> {
    const { statusCode: status = 0 } = incoming;
    if (status < 300) {
      await handOver(incoming, give);
      return undefined;
    }
    const body = await textOf(incoming);
    if (messageIn(body)?.['id'] !== id) return http.fault(status, body);
    await give(body);
    return undefined;
  }

  /** The first answer, or a second one where nothing was done because the daemon wants arguments repeated in headers. */
  async function call(line: string, request: Request, signal: AbortSignal): Promise<IncomingMessage | string> {
    const { params = {} } = request;
    const args = isObject(params['arguments']) ? params['arguments'] : undefined;
    const post = (mirrored: Record<string, string>): Promise<IncomingMessage> =>
      http.send('POST', { ...headersOf(request.method, params), ...mirrored }, line, signal);
    const first = await post(paramHeaders(mirror.known(params['name']), args));
    if (first.statusCode !== 400) return first;
    const body = await textOf(first);
    if (errorIn(body)?.code !== rpcCode.headerMismatch) return body;
    const wanted = await mirror.learn(params, signal);
    return wanted === undefined ? body : post(paramHeaders(wanted, args));
  }

  async function exchange(line: string, request: Request, signal: AbortSignal): Promise<LinkFault | undefined> {
    const give = async (text: string): Promise<void> => {
      if (!signal.aborted) await onMessage(text);
    };
    const { id, method, params = {} } = request;
    const post = (): Promise<IncomingMessage> => http.send('POST', headersOf(method, params), line, signal);
    if (method === 'subscriptions/listen') {
      const incoming = await keepSubscribed({ id, post, onMessage: give, signal });
      return incoming === undefined ? undefined : answered(incoming, request, give);
    }
    if (method !== 'tools/call') return answered(await post(), request, give);
    const answer = await call(line, request, signal);
    if (typeof answer !== 'string') return answered(answer, request, give);
    if (messageIn(answer)?.['id'] !== id) return http.fault(400, answer);
    await give(answer);
    return undefined;
  }

  return {
    async request(line, request, signal) {
      try {
        return await exchange(line, request, signal);
      } catch (error) {
        return { code: rpcCode.internalError, message: connectionFault(error, http.where, wasSent(error)) };
      }
    },
  };
}
