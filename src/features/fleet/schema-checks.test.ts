import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { createDigest } from '../../platform/crypto.ts';
import { readDefinition } from './definition.ts';
import { cautionsOf, definitionBounds, inputProblem, outputProblem } from './schema-checks.ts';

const digest = createDigest();
const object = { type: 'object' } as const;
const withProperty = (schema: Json): JsonObject => ({ ...object, properties: { a: schema } });
const problemOf = (definition: object): string | undefined => readDefinition(JSON.stringify(definition), digest)?.unusable;

describe('[NAME-6] an inputSchema is no legal MCP', () => {
  test.each<[string, unknown, string]>([
    ['when it is missing', undefined, 'it has no inputSchema'],
    ['when it is null', null, 'its inputSchema is no object'],
    ['when it is a list', [], 'its inputSchema is no object'],
    ['when it is true', true, 'its inputSchema is no object'],
    ['without a type', { properties: {} }, 'its inputSchema has no type, and must have type "object"'],
    ['of type string', { type: 'string' }, 'its inputSchema has type "string" at its top, and must have type "object"'],
    [
      'of several types',
      { type: ['object', 'null'] },
      'its inputSchema has type ["object","null"] at its top, and must have type "object"',
    ],
  ])('%s', (_when, inputSchema, words) => {
    expect(inputProblem(inputSchema as Json)).toBe(words);
    expect(problemOf({ name: 't', inputSchema })).toBe(words);
  });

  const marked = (name: Json, type: Json = 'string'): JsonObject => withProperty({ type, 'x-mcp-header': name });
  test.each<[string, JsonObject, string]>([
    ['an empty header name', marked(''), "has an x-mcp-header that cannot be part of a header's name"],
    ['a header name with a colon', marked('Region:a'), "has an x-mcp-header that cannot be part of a header's name"],
    ['a marked number', marked('N', 'number'), 'marks an argument with x-mcp-header that is neither string, integer nor boolean'],
    ['a marked object', marked('N', 'object'), 'marks an argument with x-mcp-header that is neither string, integer nor boolean'],
    [
      'two marks of one name',
      { ...object, properties: { a: { type: 'string', 'x-mcp-header': 'Same' }, b: { type: 'string', 'x-mcp-header': 'same' } } },
      'gives two arguments the same x-mcp-header',
    ],
    [
      'a mark where no argument is',
      withProperty({ type: 'array', items: { type: 'string', 'x-mcp-header': 'N' } }),
      'marks with x-mcp-header what is no argument',
    ],
  ])('with %s, which clients over HTTP have to refuse', (_what, inputSchema, words) => {
    expect(inputProblem(inputSchema)).toBe(`its inputSchema ${words}`);
    expect(problemOf({ name: 't', inputSchema })).toBe(`its inputSchema ${words}`);
    expect(problemOf({ name: 't', inputSchema: marked('Region') })).toBeUndefined();
  });

  test.each<[string, JsonObject, string]>([
    ['properties as a list', { ...object, properties: [] }, 'inputSchema.properties is no object with a schema for each name'],
    ['a property that is text', withProperty('string'), 'inputSchema.properties is no object with a schema for each name'],
    ['required as true', { ...object, required: true }, 'inputSchema.required is no list of different names'],
    ['required with a number', { ...object, required: ['a', 1] }, 'inputSchema.required is no list of different names'],
    ['required with a name twice', { ...object, required: ['a', 'a'] }, 'inputSchema.required is no list of different names'],
    [
      'required: true in a property',
      withProperty({ required: true }),
      'inputSchema.properties.a.required is no list of different names',
    ],
    ['an unknown type', withProperty({ type: 'int' }), 'inputSchema.properties.a.type is not one of array, boolean'],
    ['no type in a list', withProperty({ type: [] }), 'inputSchema.properties.a.type is not one of'],
    ['an empty anyOf', withProperty({ anyOf: [] }), 'inputSchema.properties.a.anyOf is no list of schemas'],
    [
      'text in oneOf, deep down',
      withProperty({ items: { not: { oneOf: ['x'] } } }),
      'inputSchema.properties.a.items.not.oneOf is no list of schemas',
    ],
    ['enum as text', withProperty({ enum: 'a|b' }), 'inputSchema.properties.a.enum is no list'],
    ['a description that is null', withProperty({ description: null }), 'inputSchema.properties.a.description is no text'],
    ['a negative length', withProperty({ minLength: -1 }), 'inputSchema.properties.a.minLength is no whole number from 0 on'],
    ['a limit that is text', withProperty({ minimum: '1' }), 'inputSchema.properties.a.minimum is no number'],
    ['a divisor of 0', withProperty({ multipleOf: 0 }), 'inputSchema.properties.a.multipleOf is no number above 0'],
    ['items as text', withProperty({ items: 'string' }), 'inputSchema.properties.a.items is neither a schema nor a list of them'],
    ['definitions as a list', { ...object, $defs: [] }, 'inputSchema.$defs is no object with a schema for each name'],
    ['a bad schema behind a reference', { ...object, $defs: { d: { type: 'any' } } }, 'inputSchema.$defs.d.type is not one of'],
    ['additionalProperties as text', { ...object, additionalProperties: 'no' }, 'inputSchema.additionalProperties is no schema'],
    ['a flag that is text', withProperty({ uniqueItems: 'yes' }), 'inputSchema.properties.a.uniqueItems is neither true nor false'],
    [
      'dependentRequired as a list',
      { ...object, dependentRequired: [] },
      'inputSchema.dependentRequired is no object with a list of names',
    ],
    [
      'dependencies on a number',
      { ...object, dependencies: { a: 1 } },
      'inputSchema.dependencies is no object with a schema or a list',
    ],
  ])('with %s', (_what, schema, words) => {
    expect(inputProblem(schema)).toContain(words);
    expect(outputProblem(schema)).toContain(words.replace('inputSchema', 'outputSchema'));
    expect(problemOf({ name: 't', inputSchema: object, outputSchema: schema })).toContain('outputSchema');
  });

  test('what stands in place of a value is no schema, and unknown keywords mean nothing', () => {
    const value = { type: 7, required: true, properties: [] };
    expect(
      inputProblem(withProperty({ default: value, const: value, enum: [value], examples: [value], 'x-own': value })),
    ).toBeUndefined();
    expect(
      inputProblem({ ...object, properties: { type: { type: 'string' }, required: { type: 'boolean' }, enum: true } }),
    ).toBeUndefined();
  });

  test('words of a stranger in the reason are short and cannot move a cursor', () => {
    const reason = inputProblem({ ...object, properties: { [`\u001b[2J\n${'x'.repeat(999)}`]: { type: 'any' } } });
    expect(reason).toContain('\\u{1b}[2J\\n');
    expect(reason?.length).toBeLessThan(300);
  });
});

describe('[NAME-6] a definition', () => {
  test('beyond the bounds keeps its name alone, so that nobody has to read it', () => {
    const long = { name: 'long', description: 'x'.repeat(definitionBounds.chars), inputSchema: object };
    expect(readDefinition(JSON.stringify(long), digest)).toMatchObject({
      text: '{"name":"long"}',
      unusable: /262144 are too many/,
    });
    const nested = (depth: number): string =>
      `{"name":"deep","inputSchema":{"type":"object","x":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(readDefinition(nested(97), digest)?.unusable).toBeUndefined();
    expect(readDefinition(nested(100), digest)).toMatchObject({ text: '{"name":"deep"}', unusable: /more than 100 levels/ });
    const started = performance.now();
    expect(readDefinition(nested(100_000), digest)).toMatchObject({ text: '{"name":"deep"}' });
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test('beyond the bounds has the hash of all of it, so that another one is another offer', () => {
    const hashes = ['a', 'b'].map(
      (letter) => readDefinition(`{"name":"t","d":"${letter.repeat(definitionBounds.chars)}"}`, digest)?.hash,
    );
    expect(new Set(hashes).size).toBe(2);
  });

  test('of any shape is judged without a throw', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.jsonValue({ maxDepth: 3 }), (inputSchema, outputSchema) => {
        const definition = readDefinition(JSON.stringify({ name: 't', inputSchema, outputSchema }), digest);
        expect(definition?.tool).toBe('t');
      }),
    );
  });

  // The published schemas of MCP are schemas with every keyword in earnest.
  test.each(['2025-11-25', '2026-07-28'])('with the published schema of MCP %s inside is legal', (revision) => {
    const published = JSON.parse(
      readFileSync(new URL(`../../../test/fixtures/mcp-schema/${revision}.json`, import.meta.url), 'utf8'),
    ) as JsonObject;
    expect(inputProblem({ ...object, ...published, type: 'object' })).toBeUndefined();
  });
});

describe('[NAME-7] some clients or model APIs refuse', () => {
  test.each<[string, JsonObject, string]>([
    ['oneOf at the top', { ...object, oneOf: [{ required: ['a'] }, { required: ['b'] }] }, 'its inputSchema has oneOf at its top'],
    ['several of them', { ...object, anyOf: [{}], not: {} }, 'its inputSchema has anyOf, not at its top'],
    ['an argument with a space', { ...object, properties: { 'a b': {} } }, `its argument "a b" is not named with 1 to 64`],
    ['an argument of 65 letters', { ...object, properties: { ['x'.repeat(65)]: {} } }, 'is not named with 1 to 64'],
    ['true for a schema', withProperty(true), 'its argument "a" has true for a schema'],
    [
      'items of draft 7',
      withProperty({ items: [{ type: 'string' }] }),
      'inputSchema.properties.a.items is a list, which became prefixItems',
    ],
    [
      'a limit of draft 4',
      withProperty({ minimum: 0, exclusiveMinimum: true }),
      'inputSchema.properties.a.exclusiveMinimum is true or false',
    ],
  ])('%s, which is legal', (_what, inputSchema, words) => {
    expect(cautionsOf({ inputSchema })).toEqual([expect.stringContaining(words)]);
    expect(problemOf({ name: 't', inputSchema })).toBeUndefined();
  });

  test('a result that is no object, and say nothing of everyday schemas', () => {
    expect(cautionsOf({ inputSchema: object, outputSchema: { type: 'array' } })).toEqual([expect.stringContaining('outputSchema')]);
    const everyday = {
      ...object,
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: {
        path: { type: 'string', description: 'Where.', pattern: '^/', default: '/' },
        kind: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
        pair: { type: 'array', prefixItems: [{ type: 'number' }], items: false },
        tree: { $ref: '#/$defs/tree' },
      },
      required: ['path'],
      additionalProperties: false,
      $defs: { tree: { type: 'object', properties: { inner: { $ref: '#/$defs/tree' } } } },
    };
    expect(cautionsOf({ inputSchema: everyday, outputSchema: object })).toEqual([]);
    expect(problemOf({ name: 't', inputSchema: everyday, outputSchema: object })).toBeUndefined();
  });
});
