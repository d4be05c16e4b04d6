import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { askedClient, resultOf } from '../../test/support/asked-client.ts';
import { fixtureCommand } from '../../test/support/fixture-upstream.ts';
import { silentLog } from '../../test/support/silent-log.ts';
import type { ClientHost } from '../kernel/client-host.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection, UpstreamConnector, UpstreamRequestOptions } from '../kernel/ports.ts';
import { createClock } from './clock.ts';
import { createSpawner, type OwnedSpawner } from './process.ts';
import { createUpstreamConnector } from './upstream.ts';

let folder: string;
let spawner: OwnedSpawner;
let connector: UpstreamConnector;
const signal = new AbortController().signal;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-asking-'));
  spawner = await createSpawner({ runFolder: folder, log: silentLog() });
  connector = createUpstreamConnector({
    spawner,
    clock: createClock(),
    log: silentLog(),
    client: { name: 'gateway', version: '0' },
  });
});
afterAll(async () => {
  await spawner.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(behaviour: string, host?: ClientHost, ...args: string[]): Promise<UpstreamConnection> {
  const [command, ...rest] = fixtureCommand(behaviour, ...args);
  const connection = await connector.open(
    { command, args: rest, env: { PATH: process.env['PATH'] ?? '' } },
    { startTimeoutMs: 10_000, signal, ...(host === undefined ? {} : { host }) },
  );
  onTestFinished(() => connection.close(0));
  return connection;
}

async function call(
  connection: UpstreamConnection,
  name: string,
  args: JsonObject = {},
  more: Partial<UpstreamRequestOptions> = {},
): Promise<string> {
  const params = JSON.stringify({ name, arguments: args });
  const reply = await connection.request('tools/call', params, { signal, timeoutMs: 5_000, ...more });
  if (reply.kind === 'error') return reply.json;
  const content = reply.value['content'] as readonly { readonly text: string }[] | undefined;
  return content?.[0]?.text ?? reply.json;
}

describe('a program over stdio', () => {
  test('[TWOWAY-25] is told what the one client behind it can do and who it is, but for tasks, and its instructions are kept', async () => {
    const capabilities = { elicitation: { form: {}, url: {} }, roots: { listChanged: true }, experimental: { x: {} }, tasks: {} };
    const connection = await open('asking', askedClient('kimi', capabilities));
    const { tasks: _, ...relayed } = capabilities;
    expect(JSON.parse(await call(connection, 'told'))).toMatchObject({
      capabilities: relayed,
      clientInfo: { name: 'kimi', version: '1' },
    });
    expect(await call(connection, 'told')).not.toContain('tasks');
    expect(connection.instructions).toBe('Ask.');
  });

  test('[TWOWAY-25] is told of nobody where it is for everybody, and then its questions are refused', async () => {
    const connection = await open('asking');
    const host = askedClient();
    expect(JSON.parse(await call(connection, 'told'))).toMatchObject({
      capabilities: {},
      clientInfo: { name: 'gateway', version: '0' },
    });
    expect(await call(connection, 'ask', { method: 'roots/list' }, { host })).toContain('-32601');
    expect(host.asked).toEqual([]);
    await call(connection, 'log', { data: 'hello' }, { host });
    expect(host.told).toEqual([['notifications/message', '{"level":"info","data":"hello"}']]);
  });

  test.each(['sampling/createMessage', 'elicitation/create', 'roots/list'])(
    '[TWOWAY-20] [TWOWAY-21] asks %s in the middle of a call and gets the answer',
    async (method) => {
      const host = askedClient();
      host.answer = () => Promise.resolve(resultOf('{"n":1}'));
      const connection = await open('asking', host);
      expect(await call(connection, 'ask', { method, params: '{ "k":[1.0] }' }, { host })).toBe('{"n":1}');
      expect(host.asked).toMatchObject([{ method, params: '{ "k":[1.0] }' }]);
    },
  );

  test('[TWOWAY-22] [TWOWAY-23] may wait for a person longer than a call may take, and its end ends the question', async () => {
    const host = askedClient();
    const { promise, resolve } = Promise.withResolvers<void>();
    host.answer = () => promise.then(() => resultOf('{}'));
    const connection = await open('asking', host);
    const calling = call(connection, 'ask', { method: 'elicitation/create' }, { host, timeoutMs: 400 });
    setTimeout(resolve, 900);
    expect(await calling).toBe('{}');
    host.answer = () => new Promise(() => undefined);
    const hanging = call(connection, 'ask', { method: 'elicitation/create' }, { host }).catch(() => 'ended');
    await expect.poll(() => host.asked.length).toBe(2);
    expect(connection.asking?.()).toBe(true);
    await connection.close(0);
    expect(await hanging).toBe('ended');
    expect(host.asked[1]?.signal.aborted).toBe(true);
    expect(connection.asking?.()).toBe(false);
  });
});

describe('[TWOWAY-26] a program that speaks 2026-07-28 alone', () => {
  test.each(['-32601', '-32022', '-32000'])('refuses initialize with %s and is served all the same', async (code) => {
    const connection = await open('modern', undefined, code);
    expect(connection).toMatchObject({
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'modern' },
      instructions: 'Modern.',
      pid: expect.any(Number) as number,
    });
    expect(connection.perSession).toBeUndefined();
  });

  test('gets the envelope with every request: what the client can do, and the log level it wants', async () => {
    const connection = await open('modern');
    const host = askedClient('kimi', { elicitation: {} });
    const client = { capabilities: { elicitation: {}, sampling: {} }, info: undefined, logLevel: 'debug' };
    expect(JSON.parse(await call(connection, 'params', { a: 1 }, { host, client }))).toEqual({
      name: 'params',
      arguments: { a: 1 },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        'io.modelcontextprotocol/clientInfo': { name: 'kimi', version: '1' },
        'io.modelcontextprotocol/logLevel': 'debug',
      },
    });
    await call(connection, 'log', { data: 1 }, { host, client });
    expect(host.told).toEqual([['notifications/message', '{"level":"info","data":1}']]);
    expect(await call(connection, 'needs', {}, { host })).toContain('input_required');
  });

  test('is told by a notice that a call was cancelled', async () => {
    const connection = await open('modern');
    const stop = new AbortController();
    const hanging = call(connection, 'hang', {}, { signal: stop.signal }).catch(() => 'cancelled');
    stop.abort();
    expect(await hanging).toBe('cancelled');
    expect(JSON.parse(await call(connection, 'cancelled'))).toHaveLength(1);
  });

  test('[TWOWAY-27] tells of followed resources on one subscription, under no tag of this hop', async () => {
    const connection = await open('modern');
    const heard: (string | undefined)[] = [];
    connection.onNotification((method, _params, text) => method.endsWith('updated') && heard.push(text));
    const options = { signal, timeoutMs: 5_000 };
    const both = await Promise.all([connection.subscribe('a:one', options), connection.subscribe('a:two', options)]);
    expect(both.map(({ kind }) => kind)).toEqual(['result', 'result']);
    expect(JSON.parse(await call(connection, 'subscriptions'))).toEqual([
      expect.objectContaining({ toolsListChanged: true, resourceSubscriptions: ['a:one', 'a:two'] }),
    ]);
    await connection.unsubscribe('a:one', options);
    for (const uri of ['a:one', 'a:two']) await call(connection, 'change', { uri });
    expect(heard).toEqual(['{"uri":"a:two","_meta":{}}']);
  });

  test('[TWOWAY-27] that ends the subscription is asked for it again, and what was followed counts as changed', async () => {
    const connection = await open('modern');
    const heard: (string | undefined)[] = [];
    connection.onNotification((method, _params, text) => method.endsWith('updated') && heard.push(text));
    await connection.subscribe('a:one', { signal, timeoutMs: 5_000 });
    await call(connection, 'end');
    expect(JSON.parse(await call(connection, 'subscriptions'))).toEqual([]);
    await expect.poll(() => heard, { timeout: 9_000 }).toEqual(['{"uri":"a:one"}']);
    expect(JSON.parse(await call(connection, 'subscriptions'))).toMatchObject([{ resourceSubscriptions: ['a:one'] }]);
  }, 15_000);

  test('one that speaks neither is not taken for it', async () => {
    await expect(open('error-initialize')).rejects.toMatchObject({ code: 'fleet.start_failed' });
  });
});
