// MCP sessions over the older HTTP+SSE transport (2024-11-05): requests are posted, every answer comes down one stream of the session.
import { Agent, request, type IncomingMessage } from 'node:http';
import type { HttpTarget } from './arm.ts';
import { assertAnswered, initializeParams, type Door, type Session } from './client.ts';
import { createLineCutter } from './lines.ts';

const data = Buffer.from('data: ');

function openStream(url: URL, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`the event stream answered ${response.statusCode}`));
    });
    sent.on('error', reject);
    sent.end();
  });
}

function post(url: URL, agent: Agent, message: object): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      const status = response.statusCode ?? 0;
      response.resume().on('end', () => (status < 300 ? resolve() : reject(new Error(`the message was answered ${status}`))));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function openSession(url: URL, target: HttpTarget): Promise<Session> {
  const streamAgent = new Agent();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  // One call is in flight at a time, so whatever is not a notice is the answer to it.
  let heard: ((line: Buffer) => void) | undefined;
  let broken: ((error: Error) => void) | undefined;
  const next = (): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      heard = resolve;
      broken = reject;
    });
  const first = next();
  const stream = await openStream(url, streamAgent);
  const cut = createLineCutter((line) => {
    if (!line.subarray(0, data.length).equals(data)) return;
    const payload = line.subarray(data.length);
    if (!payload.toString('latin1', 0, 128).includes('"method":')) heard?.(payload);
  });
  stream.on('data', cut);
  stream.on('close', () => broken?.(new Error('the event stream ended')));
  const endpoint = new URL((await first).toString().trim(), url);

  let nextId = 0;
  const ask = async (method: string, params: object): Promise<Buffer> => {
    if (stream.destroyed) throw new Error('the event stream ended');
    const answered = next();
    const [answer] = await Promise.all([answered, post(endpoint, agent, { id: nextId++, method, params })]);
    return answer;
  };
  await ask('initialize', initializeParams);
  await post(endpoint, agent, { method: 'notifications/initialized' });
  return {
    call: async (tool, size) => assertAnswered(await ask('tools/call', { name: target.tools[tool], arguments: { size } }), size),
    close: async () => {
      broken = undefined;
      stream.destroy();
      streamAgent.destroy();
      agent.destroy();
      return await Promise.resolve();
    },
  };
}

export function sseDoor(target: HttpTarget): Door {
  const url = new URL(target.url);
  return { open: () => openSession(url, target), close: () => {} };
}
