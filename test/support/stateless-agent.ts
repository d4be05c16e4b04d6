// An agent of 2026-07-28 at a test door, bare: the requests a good client sends, with every part open to be spoiled, and an eye on
// every message that comes back. Knows the published schema and nothing of the product.
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { createEventReader } from '../../src/wire/sse.ts';
import { ask, type Answer, type TestDoor } from './agent-door.ts';
import { schemaFaults } from './mcp-schema.ts';

export const revision = '2026-07-28';

export type Params = Readonly<Record<string, unknown>>;
export type HeaderChanges = Readonly<Record<string, string | undefined>>;

export interface Reply {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

export function envelope(more: Params = {}): Params {
  return {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bare', version: '1' },
    ...more,
  };
}

/** A member that is `undefined` is left out. */
export function statelessBody(id: string | number, method: string, params: Params = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: envelope(), ...params } });
}

export function statelessHeaders(method: string, params: Params = {}): Record<string, string> {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  return {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
}

export interface StatelessAnswer extends Answer {
  readonly reply: Reply;
}

/** One request; what comes back has been judged by the schema, `resultType` naming its result type there. */
export async function statelessAsk(
  door: Pick<TestDoor, 'url'>,
  method: string,
  params: Params = {},
  options: {
    readonly id?: string | number;
    readonly headers?: HeaderChanges;
    readonly path?: string;
    readonly token?: string;
  } = {},
): Promise<StatelessAnswer> {
  const { id = 1, headers = {}, token = 'token-kimi' } = options;
  const answer = await ask(door, {
    ...(options.path === undefined ? {} : { path: options.path }),
    headers: { authorization: `Bearer ${token}`, ...statelessHeaders(method, params), ...headers },
    body: statelessBody(id, method, params),
  });
  return { ...answer, reply: judged(JSON.parse(answer.body) as Reply, method) };
}

const resultTypes: Readonly<Record<string, string>> = {
  'server/discover': 'DiscoverResultResponse',
  'tools/list': 'ListToolsResultResponse',
  'tools/call': 'CallToolResultResponse',
  'prompts/list': 'ListPromptsResultResponse',
  'resources/list': 'ListResourcesResultResponse',
  'resources/templates/list': 'ListResourceTemplatesResultResponse',
  'subscriptions/listen': 'SubscriptionsListenResultResponse',
};
const noticeTypes: Readonly<Record<string, string>> = {
  'notifications/progress': 'ProgressNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
  'notifications/resources/list_changed': 'ResourceListChangedNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
};
const errorTypes: Readonly<Record<number, string>> = {
  [-32020]: 'HeaderMismatchError',
  [-32021]: 'MissingRequiredClientCapabilityError',
  [-32022]: 'UnsupportedProtocolVersionError',
};

/** Throws when a message is not what revision 2026-07-28 says it is. `method` is the one it answers. */
export function judged(message: Reply, method: string): Reply {
  const { error } = message;
  const type =
    message.method === undefined
      ? error === undefined
        ? (resultTypes[method] ?? 'JSONRPCResultResponse')
        : (errorTypes[error.code] ?? 'JSONRPCErrorResponse')
      : (noticeTypes[message.method] ?? 'no such notice');
  const faults = schemaFaults(revision, type, message);
  if (faults.length > 0) throw new Error(`${JSON.stringify(message).slice(0, 500)}: ${faults.join('; ')}`);
  return message;
}

export interface StatelessStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Messages so far, each judged. */
  readonly messages: Reply[];
  /** What the judge had to say. */
  readonly faults: string[];
  readonly ended: Promise<void>;
  /** Closes the connection: in this revision, the way to take a request back. */
  drop(): void;
}

/** A request whose answer is read message by message, as it comes. */
export function statelessStream(
  { url }: Pick<TestDoor, 'url'>,
  method: string,
  params: Params = {},
  {
    id = 1,
    token = 'token-kimi',
    path = url.pathname,
  }: { readonly id?: string | number; readonly token?: string; readonly path?: string } = {},
): Promise<StatelessStream> {
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(
      {
        host: url.hostname,
        port: url.port,
        path,
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${token}`,
          ...statelessHeaders(method, params),
        },
      },
      (incoming: IncomingMessage) => {
        const messages: Reply[] = [];
        const faults: string[] = [];
        const take = (text: string): void => {
          try {
            messages.push(judged(JSON.parse(text) as Reply, method));
          } catch (error) {
            faults.push(String(error));
          }
        };
        const reader = createEventReader({ maxLength: 1 << 24, onData: take });
        incoming.on('data', (chunk: Buffer) => reader.push(chunk));
        incoming.on('error', () => undefined);
        const ended = new Promise<void>((done) => void incoming.on('close', done));
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          messages,
          faults,
          ended,
          drop: () => outgoing.destroy(),
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(statelessBody(id, method, params));
  });
}
