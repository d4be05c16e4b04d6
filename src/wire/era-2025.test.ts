import { describe, expect, test } from 'vitest';
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { era2025 } from './era-2025.ts';

function readCall(params: JsonObject): unknown {
  return era2025.requests.get('tools/call')?.(params);
}

test('the methods of the era are these and no others', () => {
  expect([...era2025.requests.keys()]).toEqual([
    'initialize',
    'ping',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'tools/call',
    'prompts/get',
    'resources/read',
    'completion/complete',
    'tasks/get',
    'tasks/result',
    'tasks/cancel',
    'tasks/list',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
  ]);
  expect([...era2025.notices.keys()]).toEqual([
    'notifications/initialized',
    'notifications/cancelled',
    'notifications/progress',
    'notifications/roots/list_changed',
  ]);
});

test('[BATCH-1] one revision has batches', () => {
  expect(era2025.versions.filter((version) => era2025.hasBatches(version))).toEqual(['2025-03-26']);
});

describe('initialize', () => {
  const read = (params: JsonObject): unknown => era2025.requests.get('initialize')?.({ protocolVersion: 'v', ...params });

  test('[TWOWAY-1] what the client says of itself is read, and may be left out', () => {
    const client = { capabilities: { roots: {}, vendor: [1] }, info: { name: 'n', version: '1', title: 'T' } };
    expect(read({ capabilities: client.capabilities, clientInfo: client.info })).toEqual({
      kind: 'initialize',
      version: 'v',
      client,
    });
    expect(read({})).toMatchObject({ client: { capabilities: {}, info: undefined } });
  });

  test.each<JsonObject>([
    { capabilities: [] },
    { capabilities: null },
    { clientInfo: 'n' },
    { capabilities: { x: 'a'.repeat(70_000) } },
    { clientInfo: { icons: 'a'.repeat(70_000) } },
  ])('[TWOWAY-1] what cannot be kept is refused as bad params', (params) => {
    expect(() => read(params)).toThrow(expect.objectContaining({ code: 'wire.bad_params' }) as Error);
  });
});

test.each<[string, JsonObject, object]>([
  ['logging/setLevel', { level: 'alert' }, { kind: 'set_log_level', level: 'alert' }],
  ['resources/subscribe', { uri: 'a:b', _meta: {} }, { kind: 'follow', uri: 'a:b' }],
  ['resources/unsubscribe', { uri: 'a:b' }, { kind: 'unfollow', uri: 'a:b' }],
])('%s is read', (method, params, asked) => {
  expect(era2025.requests.get(method)?.(params)).toEqual(asked);
});

test.each<[string, JsonObject]>([
  ['logging/setLevel', {}],
  ['logging/setLevel', { level: 'WARNING' }],
  ['logging/setLevel', { level: 3 }],
  ['logging/setLevel', { level: 'constructor' }],
  ['resources/subscribe', { uri: 1 }],
  ['resources/unsubscribe', {}],
])('[TWOWAY-9] %s with %j is refused as bad params', (method, params) => {
  expect(() => era2025.requests.get(method)?.(params)).toThrow(expect.objectContaining({ code: 'wire.bad_params' }) as Error);
});

test.each([
  ['2025-11-25', '2025-11-25'],
  ['2025-06-18', '2025-06-18'],
  ['2025-03-26', '2025-03-26'],
  ['2024-11-05', '2025-11-25'],
  ['2026-07-28', '2025-11-25'],
  ['', '2025-11-25'],
])('[DOOR-1] asked for %s, the era speaks %s', (asked, spoken) => {
  expect(era2025.negotiate(asked)).toBe(spoken);
});

describe('tools/call', () => {
  test('name, arguments and progress token are taken out, the rest is kept as it is', () => {
    expect(readCall({ name: 'n', arguments: { a: 1 }, _meta: { progressToken: 0, 'x/trace': 't' }, vendor: { b: [2] } })).toEqual({
      kind: 'call_tool',
      name: 'n',
      args: { a: 1 },
      rest: { vendor: { b: [2] }, _meta: { 'x/trace': 't' } },
      progressToken: 0,
    });
  });

  test('a _meta that only held the token is not forwarded, an absent one stays absent', () => {
    expect(readCall({ name: 'n', _meta: { progressToken: 't' } })).toEqual({
      kind: 'call_tool',
      name: 'n',
      args: undefined,
      rest: {},
      progressToken: 't',
    });
    expect(readCall({ name: 'n' })).toEqual({ kind: 'call_tool', name: 'n', args: undefined, rest: {}, progressToken: undefined });
  });

  test('[TASK-1] that a call may go on as a task is for the gateway to say to its upstream, or not', () => {
    expect(readCall({ name: 'n', task: { ttl: 1 } })).toMatchObject({ rest: { task: { ttl: 1 } } });
  });

  test.each<JsonObject>([
    {},
    { name: 1 },
    { name: 'n', arguments: [] },
    { name: 'n', arguments: null },
    { name: 'n', _meta: 1 },
    { name: 'n', _meta: { progressToken: 1.5 } },
  ])('[DOOR-4] %j is refused as bad params', (params) => {
    expect(() => readCall(params)).toThrow(AppError);
    expect(() => readCall(params)).toThrow(expect.objectContaining({ code: 'wire.bad_params' }) as Error);
  });
});

const nothing = { prompts: false, resources: false, completions: false, logging: false, subscriptions: false };

test('results and notices have the shapes of schema 2025-11-25', () => {
  const { results, notifications } = era2025;
  const facts = { serverInfo: { name: 'sallyport', version: '1' }, instructions: 'Ask first.' };
  expect(JSON.parse(results.initialized('2025-06-18', facts, nothing))).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'sallyport', version: '1' },
    instructions: 'Ask first.',
  });
  expect(results.page('tools', ['{ "name":"a" }', '{"name":"b"}'], 'next')).toBe(
    '{"tools":[{ "name":"a" },{"name":"b"}],"nextCursor":"next"}',
  );
  expect(results.page('tools', [], undefined)).toBe('{"tools":[]}');
  expect(results.toolText('a\n"b"', true)).toBe('{"content":[{"type":"text","text":"a\\n\\"b\\""}],"isError":true}');
  expect(JSON.parse(notifications.progress('t', { progress: 1, total: 2, extra: true, progressToken: 'forged' }))).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progress: 1, total: 2, extra: true, progressToken: 't' },
  });
  expect(notifications.listChanged('tools')).toBe('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
});
