// A client that parses nothing on the way: what it is answered is the text that came, over a pipe or over HTTP, of either era.
import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { createEventReader } from '../../src/wire/sse.ts';

export interface RawRequest {
  /** Members of the params as JSON text, without the braces. */
  readonly params?: string;
  /** Members of `_meta` beside those of the era. */
  readonly meta?: string;
}

export interface RawClient {
  /** The whole message that answers. */
  ask(method: string, request?: RawRequest): Promise<string>;
  /** What came that answers nothing: notices, and requests. */
  readonly heard: string[];
  close(): Promise<void>;
}

export interface RawIdentity {
  readonly era: '2025-11-25' | '2026-07-28';
  /** JSON texts. */
  readonly info: string;
  readonly capabilities: string;
}

const patienceMs = 30_000;

export const plainIdentity: RawIdentity = { era: '2025-11-25', info: '{"name":"raw","version":"1"}', capabilities: '{}' };

function written(
  id: number,
  method: string,
  { params = '', meta = '' }: RawRequest,
  { era, info, capabilities }: RawIdentity,
): string {
  const envelope =
    `"io.modelcontextprotocol/protocolVersion":"${era}","io.modelcontextprotocol/clientInfo":${info},` +
    `"io.modelcontextprotocol/clientCapabilities":${capabilities}`;
  const inside = [meta, era === '2026-07-28' ? envelope : ''].filter((text) => text !== '').join(',');
  const members = [params, inside === '' ? '' : `"_meta":{${inside}}`].filter((text) => text !== '').join(',');
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{${members}}}`;
}

const handshake = ({ era, info, capabilities }: RawIdentity): RawRequest => ({
  params: `"protocolVersion":"${era}","capabilities":${capabilities},"clientInfo":${info}`,
});
const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

export interface RawPipe extends RawClient {
  /** What was answered at the handshake; nothing in 2026. */
  readonly opened: string;
  readonly pid: number;
}

/** A program over its pipes, in a process group of its own that ends with `close`. */
export async function openPipe(
  [command, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  identity: RawIdentity = plainIdentity,
): Promise<RawPipe> {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-2_000)));
  const gone = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const waiting = new Map<number, (line: string) => void>();
  const heard: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.trimStart().startsWith('{')) return;
    const { id, method } = JSON.parse(line) as { id?: number; method?: string };
    const waiter = method === undefined && id !== undefined ? waiting.get(id) : undefined;
    if (waiter === undefined) heard.push(line);
    else waiter(line);
  });
  let next = 0;
  const ask: RawClient['ask'] = (method, asked = {}) => {
    const id = (next += 1);
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`${command} ${args.join(' ')} did not answer ${method}: ${complaints}`)),
        patienceMs,
      );
      void gone.then(() => reject(new Error(`${command} ${args.join(' ')} ended before ${method} was answered: ${complaints}`)));
      waiting.set(id, (line) => {
        clearTimeout(late);
        resolve(line);
      });
      child.stdin.write(`${written(id, method, asked, identity)}\n`);
    });
  };
  const opened = identity.era === '2025-11-25' ? await ask('initialize', handshake(identity)) : '';
  if (opened !== '') child.stdin.write(`${initialized}\n`);
  return {
    opened,
    ask,
    heard,
    pid: child.pid ?? 0,
    async close() {
      child.stdin.end();
      const impatience = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 3_000);
      await gone;
      clearTimeout(impatience);
    },
  };
}

export interface RawHttp extends RawClient {
  readonly opened: string;
}

/** An endpoint over HTTP; `close` ends the session. */
export async function openHttp(
  url: string,
  headers: Readonly<Record<string, string>>,
  identity: RawIdentity = plainIdentity,
): Promise<RawHttp> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const heard: string[] = [];
  const own: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  let next = 0;

  /** Messages of one exchange, in their order. */
  function exchange(method: string, body: string | undefined, more: Record<string, string> = {}): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, agent, headers: { ...own, ...more } }, (response) => {
        const session = response.headers['mcp-session-id'];
        if (typeof session === 'string') own['mcp-session-id'] = session;
        const got: string[] = [];
        const events = response.headers['content-type']?.startsWith('text/event-stream') === true;
        const chunks: Buffer[] = [];
        const reader = createEventReader({ maxLength: 1 << 27, onData: (data) => data !== '' && got.push(data) });
        response.on('data', (chunk: Buffer) => (events ? reader.push(chunk) : chunks.push(chunk)));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve(events ? got : text === '' ? [] : [text]);
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  const ask: RawClient['ask'] = async (method, asked = {}) => {
    const id = (next += 1);
    const body = written(id, method, asked, identity);
    const { params } = JSON.parse(body) as { params: Record<string, unknown> };
    const name = params['name'] ?? params['uri'] ?? params['taskId'];
    const routed: Record<string, string> =
      identity.era === '2026-07-28'
        ? { 'mcp-protocol-version': identity.era, 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': name }) }
        : {};
    const got = await exchange('POST', body, routed);
    const answer = got.at(-1);
    if (answer === undefined) throw new Error(`${url} said nothing to ${method}`);
    heard.push(...got.slice(0, -1));
    return answer;
  };

  const opened = identity.era === '2025-11-25' ? await ask('initialize', handshake(identity)) : '';
  if (opened !== '') await exchange('POST', initialized);
  return {
    opened,
    ask,
    heard,
    async close() {
      if (own['mcp-session-id'] !== undefined) await exchange('DELETE', undefined).catch(() => undefined);
      agent.destroy();
    },
  };
}
