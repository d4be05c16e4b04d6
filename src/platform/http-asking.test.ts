import { describe, expect, test } from 'vitest';
import { askedClient, resultOf, type AskedClient } from '../../test/support/asked-client.ts';
import { askingUpstream } from '../../test/support/asking-upstream.ts';
import { callOn, connect, connectorOf, fixtureOf } from '../../test/support/http-upstream.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { UpstreamConnection } from '../kernel/ports.ts';

const { signal } = new AbortController();

async function openFor(url: string, host: AskedClient | undefined, listens = true): Promise<UpstreamConnection> {
  const target = { url, headers: {}, key: url };
  return connectorOf().open(target, { startTimeoutMs: 3_000, signal, listens, ...(host === undefined ? {} : { host }) });
}

async function said(connection: UpstreamConnection, tool: string, args: JsonObject, host: AskedClient): Promise<string> {
  const reply = await callOn(connection, tool, args, { host });
  const content = (reply.kind === 'result' ? reply.value['content'] : undefined) as readonly { text: string }[] | undefined;
  return content?.[0]?.text ?? reply.json;
}

const sampling = 'sampling/createMessage';

describe('an upstream with sessions over HTTP', () => {
  test('[TWOWAY-25] is told of the one client behind the session, and of nobody where there is none', async () => {
    const upstream = await askingUpstream();
    await openFor(upstream.url, askedClient('kimi', { elicitation: { url: {} }, tasks: {} }), false);
    await openFor(upstream.url, undefined, false);
    expect(upstream.told).toEqual([{ elicitation: { url: {} } }, {}]);
  });

  test('[TWOWAY-20] [TWOWAY-21] asks on the stream of a call the client of that call, whoever else calls', async () => {
    const upstream = await askingUpstream();
    const [opener, a, b] = [askedClient('opener'), askedClient('a'), askedClient('b')];
    const connection = await openFor(upstream.url, opener, false);
    const asks = [a, b].map((host) => said(connection, 'ask', { method: sampling, params: { n: 1 } }, host));
    expect(await Promise.all(asks)).toEqual(['{"by":"a"}', '{"by":"b"}']);
    expect([a, b].map(({ asked }) => asked.map(({ params }) => params))).toEqual([['{"n":1}'], ['{"n":1}']]);
    expect(opener.asked).toEqual([]);
  });

  test('[TWOWAY-24] logs on the stream of a call to the client of that call', async () => {
    const upstream = await askingUpstream();
    const [a, b] = [askedClient('a'), askedClient('b')];
    const connection = await openFor(upstream.url, undefined, false);
    const tell = { method: 'notifications/message', params: { level: 'info', data: 1 } };
    await Promise.all([said(connection, 'tell', tell, a), said(connection, 'plain', {}, b)]);
    expect([a.told, b.told]).toEqual([[['notifications/message', '{"level":"info","data":1}']], []]);
  });

  test('[TWOWAY-20] asks on its own stream the client of the session, or the one that calls', async () => {
    const fixture = await fixtureOf();
    const opener = askedClient('opener');
    opener.answer = () => Promise.resolve(resultOf('{"roots":[]}'));
    const connection = await openFor(fixture.url, opener);
    await expect.poll(() => fixture.counts.streams).toBe(1);
    const [session] = fixture.sessions.values();
    session?.notify?.({ jsonrpc: '2.0', id: 'idle', method: 'roots/list' });
    await expect.poll(() => session?.answers).toEqual([{ jsonrpc: '2.0', id: 'idle', result: { roots: [] } }]);
    const [a, b] = [askedClient('a'), askedClient('b')];
    const calls = [callOn(connection, 'sleep', { ms: 300 }, { host: a }), callOn(connection, 'sleep', { ms: 300 }, { host: b })];
    session?.notify?.({ jsonrpc: '2.0', id: 'two', method: 'roots/list' });
    await expect.poll(() => session?.answers.length).toBe(2);
    expect(session?.answers[1]).toMatchObject({ id: 'two', error: { code: -32_601 } });
    await Promise.all(calls);
    expect([a.asked.length, b.asked.length, opener.asked.length]).toEqual([0, 0, 1]);
  });

  test('[TWOWAY-22] that forgot the session has no more questions', async () => {
    const fixture = await fixtureOf();
    const opener = askedClient('opener');
    opener.answer = () => new Promise(() => undefined);
    const connection = await openFor(fixture.url, opener);
    await expect.poll(() => fixture.counts.streams).toBe(1);
    [...fixture.sessions.values()][0]?.notify?.({ jsonrpc: '2.0', id: 'q', method: 'roots/list' });
    await expect.poll(() => connection.asking?.()).toBe(true);
    fixture.forget();
    await callOn(connection, 'echo').catch(() => undefined);
    expect(opener.asked[0]?.signal.aborted).toBe(true);
    expect(connection.asking?.()).toBe(false);
  });

  test('[TWOWAY-23] may wait for a person longer than a call may take', async () => {
    const upstream = await askingUpstream();
    const a = askedClient('a');
    a.answer = () => new Promise((resolve) => setTimeout(() => resolve(resultOf('{}')), 500));
    const connection = await openFor(upstream.url, a, false);
    const args = { method: 'elicitation/create' };
    expect(await callOn(connection, 'ask', args, { host: a, timeoutMs: 200 })).toMatchObject({ kind: 'result' });
  });
});

describe('[TWOWAY-27] an upstream of 2026-07-28 over HTTP', () => {
  const options = { signal, timeoutMs: 3_000 };
  const subscriptions = (seen: readonly { message: { method?: string; params?: unknown } | undefined }[]): unknown[] =>
    seen
      .filter(({ message }) => message?.method === 'subscriptions/listen')
      .map(({ message }) => (message?.params as { notifications?: unknown } | undefined)?.notifications);

  test('is asked for all followed resources at once, and the old subscription ends when the new one stands', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url, { listens: true });
    await expect.poll(() => fixture.subscriptions.size).toBe(1);
    const agreed = await Promise.all(['a:1', 'a:2'].map((uri) => connection.subscribe(uri, options)));
    expect(agreed.map(({ kind }) => kind)).toEqual(['result', 'result']);
    await expect.poll(() => fixture.subscriptions.size).toBe(1);
    const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    expect(subscriptions(fixture.seen)).toEqual([lists, { ...lists, resourceSubscriptions: ['a:1', 'a:2'] }]);
    await connection.subscribe('a:1', options);
    expect(subscriptions(fixture.seen)).toHaveLength(2);
    await connection.unsubscribe('a:1', options);
    expect(subscriptions(fixture.seen).at(-1)).toEqual({ ...lists, resourceSubscriptions: ['a:2'] });
  });

  test('tells under no tag of this hop, and what is followed counts as changed when the stream was broken', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const heard: (string | undefined)[] = [];
    connection.onNotification((method, _params, text) => method.endsWith('updated') && heard.push(text));
    await connection.subscribe('a:1', options);
    const params = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen-1', k: 1 }, uri: 'a:1' };
    for (const send of fixture.subscriptions) send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params });
    await expect.poll(() => heard).toEqual(['{"_meta":{"k":1},"uri":"a:1"}']);
    await fixture.stop();
    await fixtureOf({ era: 'stateless', port: fixture.port, subscriptions: fixture.subscriptions, seen: fixture.seen });
    await expect.poll(() => heard, { timeout: 5_000 }).toEqual([heard[0], '{"uri":"a:1"}']);
    expect(subscriptions(fixture.seen)).toEqual([{ resourceSubscriptions: ['a:1'] }, { resourceSubscriptions: ['a:1'] }]);
  });

  test('that refuses leaves what was followed before as it is', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    await connection.subscribe('a:1', options);
    fixture.gate = ({ message }) => (message?.method === 'subscriptions/listen' ? { status: 404 } : undefined);
    await expect(connection.subscribe('a:2', options)).rejects.toMatchObject({ code: 'fleet.refused' });
    expect(fixture.subscriptions.size).toBe(1);
    fixture.gate = () => undefined;
    await connection.subscribe('a:3', options);
    expect(subscriptions(fixture.seen).at(-1)).toEqual({ resourceSubscriptions: ['a:1', 'a:3'] });
  });

  test('is told the log level its caller wants, and logs to that caller on the stream of the call', async () => {
    const fixture = await fixtureOf({ era: 'stateless' });
    const connection = await connect(fixture.url);
    const host = askedClient('kimi', {});
    const client = { capabilities: {}, info: undefined, logLevel: 'notice' };
    const reply = await callOn(connection, 'params', {}, { host, client });
    expect(reply.json).toContain('io.modelcontextprotocol/logLevel\\":\\"notice');
    const silent = await callOn(connection, 'params', {}, { host });
    expect(silent.json).not.toContain('logLevel');
  });
});
