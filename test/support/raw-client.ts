// A client that parses nothing on the way: what it is answered is the text that came, over a pipe or over HTTP, of either era.
import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
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

export interface OpenedClient extends RawClient {
  /** What was answered at the handshake; nothing in 2026. */
  readonly opened: string;
}

export interface RawPipe extends OpenedClient {
  readonly pid: number;
}

interface Lines {
  readonly from: Readable;
  readonly write: (line: string) => void;
  /** Settles when nothing more will come, with the reason. */
  readonly ended: Promise<string>;
  readonly close: () => Promise<void>;
}

/** One message a line, both ways. */
export async function overLines({ from, write, ended, close }: Lines, identity: RawIdentity): Promise<OpenedClient> {
  const waiting = new Map<number, (line: string) => void>();
  const heard: string[] = [];
  createInterface({ input: from }).on('line', (line) => {
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
      const late = setTimeout(() => reject(new Error(`${method} was not answered`)), patienceMs);
      void ended.then((reason) => reject(new Error(`it ended before ${method} was answered: ${reason}`)));
      waiting.set(id, (line) => {
        clearTimeout(late);
        resolve(line);
      });
      write(written(id, method, asked, identity));
    });
  };
  const opened = identity.era === '2025-11-25' ? await ask('initialize', handshake(identity)) : '';
  if (opened !== '') write(initialized);
  return { opened, ask, heard, close };
}

/** A program over its pipes, in a process group of its own that ends with `close`. */
export async function openPipe(
  [command, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  identity: RawIdentity = plainIdentity,
): Promise<RawPipe> {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const pid = child.pid ?? 0;
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-2_000)));
  const ended = new Promise<string>((resolve) => void child.once('close', () => resolve(`${args.join(' ')}: ${complaints}`)));
  const lines: Lines = {
    from: child.stdout,
    write: (line) => void child.stdin.write(`${line}\n`),
    ended,
    async close() {
      child.stdin.end();
      const impatience = setTimeout(() => process.kill(-pid, 'SIGKILL'), 3_000);
      await ended;
      clearTimeout(impatience);
    },
  };
  return { ...(await overLines(lines, identity)), pid };
}

/** An endpoint over HTTP; `close` ends the session. */
export async function openHttp(
  url: string,
  headers: Readonly<Record<string, string>>,
  identity: RawIdentity = plainIdentity,
): Promise<OpenedClient> {
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
