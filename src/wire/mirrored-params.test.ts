import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { mayMirror, mirroredParams, paramHeaders, paramMismatch } from './mirrored-params.ts';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const schema: JsonObject = {
  type: 'object',
  properties: {
    region,
    where: { type: 'object', properties: { shard: { type: 'integer', 'x-mcp-header': 'Shard' } } },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
    query: { type: 'string', default: { 'x-mcp-header': 'no schema' } },
  },
};
const params = mirroredParams(schema);

test('[ERA-5] annotated properties are found at any depth of properties', () => {
  expect([...params].sort((a, b) => (a.header < b.header ? -1 : 1))).toEqual([
    { header: 'mcp-param-dry-run', path: ['dry'], type: 'boolean' },
    { header: 'mcp-param-region', path: ['region'], type: 'string' },
    { header: 'mcp-param-shard', path: ['where', 'shard'], type: 'integer' },
  ]);
  expect(mirroredParams({ type: 'object', properties: { query: { type: 'string' } } })).toEqual([]);
  expect(mirroredParams(undefined)).toEqual([]);
});

test.each<[string, Json]>([
  ['a name that is no token', { properties: { a: { type: 'string', 'x-mcp-header': 'My Region' } } }],
  ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
  ['a name that is no string', { properties: { a: { type: 'string', 'x-mcp-header': 1 } } }],
  ['the same name twice', { properties: { a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } } }],
  ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
  ['an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
  ['the root', { 'x-mcp-header': 'A', type: 'string' }],
  ['items', { properties: { ok: region, a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } } }],
  ['oneOf', { properties: { ok: region }, oneOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] }],
  ['a definition', { properties: { ok: region }, $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }],
])('[ERA-5] an annotation on %s makes all of them void', (_, broken) => {
  expect(mirroredParams(broken)).toEqual([]);
});

test('a schema as deep as an upstream likes is walked', () => {
  let deep: JsonObject = { type: 'string', 'x-mcp-header': 'Deep' };
  for (let depth = 0; depth < 20_000; depth += 1) deep = { not: deep };
  expect(mirroredParams({ properties: { a: deep } })).toEqual([]);
});

test('only definitions that may have the annotation are worth reading', () => {
  expect(mayMirror('{"name":"a","inputSchema":{"type":"object"}}')).toBe(false);
  expect(mayMirror(JSON.stringify({ inputSchema: schema }))).toBe(true);
  expect(mayMirror('{"x-mcp\\u002dheader":"A"}')).toBe(true);
});

describe('headers and arguments', () => {
  const args = { region: 'Zürich', where: { shard: -7 }, dry: false, query: 'q' };
  const headers = { 'mcp-param-region': '=?base64?WsO8cmljaA==?=', 'mcp-param-shard': '-7', 'mcp-param-dry-run': 'false' };

  test('[ERA-5] [ERA-9] are written alike and agree', () => {
    expect(paramHeaders(params, args)).toEqual(headers);
    expect(paramMismatch(params, args, headers)).toBeUndefined();
  });

  test.each<[string, JsonObject | undefined, Record<string, string>]>([
    ['no argument, no header', {}, {}],
    ['no arguments at all', undefined, {}],
    ['null is not mirrored', { region: null, where: null }, {}],
    ['integers are compared as numbers', { where: { shard: 42 } }, { 'mcp-param-shard': '42.0' }],
    ['plain ASCII may be encoded all the same', { region: 'a' }, { 'mcp-param-region': '=?base64?YQ==?=' }],
    ['half a marker is a literal', { region: '=?base64?YQ==' }, { 'mcp-param-region': '=?base64?YQ==' }],
    ['a header no definition names', { query: 'q' }, { 'mcp-param-query': 'else' }],
  ])('[ERA-5] agree: %s', (_, given, sent) => {
    expect(paramMismatch(params, given, sent)).toBeUndefined();
  });

  test.each<[string, JsonObject, Record<string, string | string[]>, string]>([
    ['missing', { region: 'a' }, {}, 'missing'],
    ['other text', { region: 'a' }, { 'mcp-param-region': 'b' }, 'not the same'],
    ['other case', { region: 'a' }, { 'mcp-param-region': 'A' }, 'not the same'],
    ['sent twice', { region: 'a' }, { 'mcp-param-region': 'a, a' }, 'not the same'],
    ['a list of values', { region: 'a' }, { 'mcp-param-region': ['a', 'a'] }, 'characters or base64'],
    ['base64 without padding', { region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }, 'characters or base64'],
    ['not ASCII', { region: 'é' }, { 'mcp-param-region': 'é' }, 'characters or base64'],
    ['another number', { where: { shard: 42 } }, { 'mcp-param-shard': '43' }, 'not the same'],
    ['a number in words', { where: { shard: 42 } }, { 'mcp-param-shard': '0x2a' }, 'not the same'],
    ['a number for a text', { where: { shard: '42' } }, { 'mcp-param-shard': '42.0' }, 'not the same'],
    ['true for false', { dry: false }, { 'mcp-param-dry-run': 'true' }, 'not the same'],
    ['a value the body has not', {}, { 'mcp-param-region': 'a' }, 'no such value'],
    ['a value where the body has null', { region: null }, { 'mcp-param-region': 'null' }, 'no such value'],
    ['a value where the body has an object', { region: { a: 1 } }, { 'mcp-param-region': 'a' }, 'no such value'],
    ['inherited names are no values', {}, { 'mcp-param-shard': '1' }, 'no such value'],
  ])('[ERA-5] disagree: %s', (_, given, sent, why) => {
    expect(paramMismatch(params, given, sent)).toContain(why);
  });

  test('[ERA-5] names of the prototype are no arguments', () => {
    const odd = mirroredParams({ properties: { constructor: { properties: { name: { type: 'string', 'x-mcp-header': 'N' } } } } });
    expect(odd).toHaveLength(1);
    expect(paramHeaders(odd, {})).toEqual({});
    expect(paramMismatch(odd, {}, {})).toBeUndefined();
  });
});
