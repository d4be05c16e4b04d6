import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { schemaFaults } from '../../test/support/mcp-schema.ts';
import { AppError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { createEra2026 } from './era-2026.ts';

const facts = { serverInfo: { name: 'sallyport', version: '1' }, instructions: 'Ask first.' };
const era = createEra2026(facts, ['2025-11-25', '2025-06-18']);
const nothing = { prompts: false, resources: false, completions: false, logging: false, subscriptions: false };
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/logLevel': 'info',
};

function read(method: string, params: JsonObject): unknown {
  return era.requests.get(method)?.(params);
}

test('[ERA-3] the methods of the era are these and no others: no handshake, no ping, no level, no subscribe', () => {
  expect([...era.requests.keys()]).toEqual([
    'server/discover',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'tools/call',
    'prompts/get',
    'resources/read',
    'completion/complete',
    'tasks/get',
    'tasks/update',
    'tasks/cancel',
    'subscriptions/listen',
  ]);
});

describe('tools/call', () => {
  test('[ERA-2] the envelope becomes what the client says of itself, everything else of _meta is forwarded', () => {
    expect(
      read('tools/call', {
        name: 'n',
        arguments: { a: 1 },
        inputResponses: {},
        _meta: { ...meta, progressToken: 0, traceparent: 't' },
      }),
    ).toEqual({
      kind: 'call_tool',
      name: 'n',
      args: { a: 1 },
      rest: { inputResponses: {}, _meta: { traceparent: 't' } },
      progressToken: 0,
      client: { capabilities: { sampling: {} }, info: { name: 'c', version: '1' }, logLevel: 'info' },
    });
    expect(read('tools/call', { name: 'n', _meta: meta })).toMatchObject({ rest: {}, progressToken: undefined });
  });

  test.each<JsonObject>([{}, { name: 1 }, { name: 'n', arguments: [] }, { name: 'n', _meta: { progressToken: 1.5 } }])(
    '%j is refused as bad params',
    (params) => {
      expect(() => read('tools/call', params)).toThrow(AppError);
      expect(() => read('tools/call', params)).toThrow(expect.objectContaining({ code: 'wire.bad_params' }) as Error);
    },
  );
});

describe('subscriptions/listen', () => {
  test.each<[JsonObject, string[]]>([
    [{ toolsListChanged: true }, ['tools']],
    [{ toolsListChanged: false }, []],
    [{}, []],
    [{ promptsListChanged: true, resourceSubscriptions: ['a:b'] }, ['prompts']],
    [{ resourcesListChanged: true, toolsListChanged: true }, ['tools', 'resources']],
  ])('[ERA-6] [REL-9] of %j the changes of these lists are honoured: %j', (notifications, lists) => {
    expect(read('subscriptions/listen', { notifications })).toMatchObject({ kind: 'listen', filter: { lists } });
  });

  test('[ERA-12] each resource is followed once, and of more than 256 none', () => {
    const of = (resourceSubscriptions: string[]): unknown =>
      read('subscriptions/listen', { notifications: { resourceSubscriptions } });
    expect(of(['a:b', 'a:c', 'a:b'])).toMatchObject({ filter: { lists: [], resources: ['a:b', 'a:c'] } });
    const many = Array.from({ length: 257 }, (_, turn) => `a:${turn}`);
    expect(of(many.slice(1))).toMatchObject({ filter: { resources: many.slice(1) } });
    expect(() => of(many)).toThrow(/256/);
  });

  test.each<JsonObject>([
    {},
    { notifications: [] },
    { notifications: { toolsListChanged: 1 } },
    { notifications: { promptsListChanged: 'yes' } },
    { notifications: { resourceSubscriptions: 'a:b' } },
    { notifications: { resourceSubscriptions: [1] } },
  ])('%j is refused as bad params', (params) => {
    expect(() => read('subscriptions/listen', params)).toThrow(expect.objectContaining({ code: 'wire.bad_params' }) as Error);
  });
});

describe('results', () => {
  test('[ERA-7] lists say how long and for whom they hold, and every own result who wrote it', () => {
    const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'sallyport', version: '1' } };
    expect(era.results.page('tools', ['{ "name":"a" }'], 'next')).toContain('"tools":[{ "name":"a" }]');
    expect(JSON.parse(era.results.page('tools', ['{"name":"a"}'], 'next'))).toEqual({
      resultType: 'complete',
      tools: [{ name: 'a' }],
      nextCursor: 'next',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: serverInfo,
    });
    expect(JSON.parse(era.results.page('tools', [], undefined))).not.toHaveProperty('nextCursor');
    expect(JSON.parse(era.results.toolText('a\n"b"', true))).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: 'a\n"b"' }],
      isError: true,
      _meta: serverInfo,
    });
    expect(JSON.parse(era.results.toolText('', false))).not.toHaveProperty('isError');
    expect(JSON.parse(era.results.listened('x'))).toEqual({
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'x', ...serverInfo },
    });
  });

  test.each([
    ['{"contents":[]}', '{"ttlMs":0,"cacheScope":"private","resultType":"complete","contents":[]}'],
    [
      '{ "resultType":"complete","ttlMs":5,"cacheScope":"public", "contents":[1.0]}',
      '{ "resultType":"complete","ttlMs":5,"cacheScope":"private", "contents":[1.0]}',
    ],
    ['{"resultType":"input_required","requestState":"s"}', '{"resultType":"input_required","requestState":"s"}'],
  ])('[REL-10] what was read is for its agent alone, and every other byte stays: %s', (result, told) => {
    expect(era.results.relayedRead(result)).toBe(told);
  });

  test('[ERA-2] discover names every revision, this one first, and leaves empty instructions out', () => {
    expect(JSON.parse(era.results.discovered(nothing))).toMatchObject({
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
      capabilities: { tools: { listChanged: true } },
      instructions: 'Ask first.',
      cacheScope: 'private',
    });
    expect(createEra2026({ ...facts, instructions: '' }, []).results.discovered(nothing)).not.toContain('instructions');
    expect(schemaFaults('2026-07-28', 'DiscoverResult', JSON.parse(era.results.discovered(nothing)))).toEqual([]);
  });
});

describe('a result of an upstream', () => {
  test.each([
    ['{}', '{"resultType":"complete"}'],
    ['{ }', '{"resultType":"complete" }'],
    ['{"content":[]}', '{"resultType":"complete","content":[]}'],
    ['{ "n" : 1.00 }', '{"resultType":"complete", "n" : 1.00 }'],
    ['{"a":{"resultType":"x"}}', '{"resultType":"complete","a":{"resultType":"x"}}'],
    ['{"a":"\\"resultType\\":1"}', '{"resultType":"complete","a":"\\"resultType\\":1"}'],
    ['{"resultType":"input_required","inputRequests":{}}', '{"resultType":"input_required","inputRequests":{}}'],
    ['{"a":[1,2],"resultType":"complete"}', '{"a":[1,2],"resultType":"complete"}'],
    ['{"result\\u0054ype":"complete"}', '{"result\\u0054ype":"complete"}'],
  ])('[ERA-7] %s goes out as %s', (result, sent) => {
    expect(era.results.relayed(result)).toBe(sent);
  });

  test('[ERA-7] whatever it is, it says resultType once at the top and nothing else of it changes', () => {
    const value = fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('resultType', '_meta', '"', '\\', 'content')),
      fc.jsonValue({ maxDepth: 4 }),
    );
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1), (result, gap) => {
        const text = JSON.stringify(result, null, gap);
        const sent = era.results.relayed(text);
        const untouched = Object.hasOwn(result, 'resultType');
        expect(sent.endsWith(text.slice(1))).toBe(true);
        expect(sent === text).toBe(untouched);
        expect(JSON.parse(sent)).toEqual(
          untouched ? JSON.parse(text) : { resultType: 'complete', ...(JSON.parse(text) as object) },
        );
      }),
    );
  });
});

describe('an error of an upstream', () => {
  test.each([
    ['{"code":-32050,"message":"own words","data":{"code":-32002}}', undefined, 200],
    ['{"message":"m","code":-32601}', undefined, 200],
    ['{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}', undefined, 400],
    [
      '{ "message":"gone", "code" : -32002 , "data":{"uri":"a:b"}}',
      '{ "message":"gone", "code" : -32602 , "data":{"uri":"a:b"}}',
      200,
    ],
    ['{"c\\u006fde":-32042,"message":"go there"}', '{"c\\u006fde":-32603,"message":"go there"}', 200],
    ['{"code":-32002.0,"message":"m"}', '{"code":-32602,"message":"m"}', 200],
  ])('[ERA-11] %s', (error, sent, status) => {
    expect(era.relayedError(error, false)).toEqual({ error: sent ?? error, status });
  });

  test('[ERA-3] [ERA-11] a method that neither side knows is 404', () => {
    const error = '{"code":-32601,"message":"m"}';
    expect(era.relayedError(error, true)).toEqual({ error, status: 404 });
    expect(era.relayedError('{"code":-32050,"message":"m"}', true)).toMatchObject({ status: 200 });
  });
});

describe('what is wanted from a client', () => {
  const state = 'sallyport:00000000-0000-4000-8000-000000000000';

  test('[PARK-1] it is a result the schema knows, with the params as they were written', () => {
    const params = '{"message":"Go?","requestedSchema":{"type":"object","properties":{}}, "x-own":1.00}';
    const text = era.results.inputRequired(
      [
        { key: 'ask-1', method: 'elicitation/create', params },
        { key: 'ask-2', method: 'roots/list', params: undefined },
      ],
      state,
    );
    expect(text).toContain(params);
    expect(schemaFaults('2026-07-28', 'InputRequiredResult', JSON.parse(text))).toEqual([]);
    expect(JSON.parse(text)).toMatchObject({
      resultType: 'input_required',
      requestState: state,
      inputRequests: { 'ask-2': { method: 'roots/list' } },
    });
  });

  test('[PARK-1] a state of ours is read where a request may be answered with a question, and nowhere else', () => {
    const again = { requestState: state, inputResponses: { 'ask-1': {} }, _meta: meta };
    const resumption = { state, responses: again.inputResponses };
    expect(read('tools/call', { name: 'n', ...again })).toMatchObject({ resumption });
    expect(read('prompts/get', { name: 'n', ...again })).toMatchObject({ resumption });
    expect(read('resources/read', { uri: 'a:b', ...again })).toMatchObject({ resumption });
    const completion = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' }, ...again };
    expect(read('completion/complete', completion)).not.toHaveProperty('resumption');
  });

  test.each<JsonObject>([
    { requestState: 'theirs' },
    { requestState: 1 },
    { inputResponses: {} },
    { requestState: ' sallyport:x' },
  ])('[PARK-1] %j is not ours and goes upstream', (more) => {
    const request = read('tools/call', { name: 'n', _meta: meta, ...more });
    expect(request).toMatchObject({ rest: more });
    expect(request).not.toHaveProperty('resumption');
  });
});
