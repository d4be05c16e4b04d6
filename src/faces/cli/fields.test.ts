// Every kind of schema a command may have, as a command line sees it.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldsOf, flagOf } from './fields.ts';

test.each([
  ['approval_id', 'approval-id'],
  ['approvalId', 'approval-id'],
  ['exposeTools', 'expose-tools'],
  ['ttl', 'ttl'],
])('%s becomes --%s', (field, flag) => {
  expect(flagOf(field)).toBe(flag);
});

test.each([
  ['text', z.string()],
  ['text', z.uuid().optional()],
  ['text', z.enum(['a', 'b'])],
  ['text', z.string().nullable()],
  ['text', z.union([z.string(), z.number()])],
  ['text', z.string().transform((text) => text.length)],
  ['text', z.union([z.literal('a'), z.null()])],
  ['number', z.int().default(3)],
  ['number', z.number().nullable().optional()],
  ['boolean', z.boolean().default(false)],
  ['list', z.array(z.string())],
  ['list', z.array(z.enum(['a', 'b']))],
  ['map', z.record(z.string(), z.string())],
  ['json', z.array(z.number())],
  ['json', z.strictObject({ a: z.string() })],
  ['json', z.unknown()],
] as const)('the kind is %s', (kind, schema) => {
  expect(fieldsOf(z.strictObject({ field: schema }))[0]?.kind).toBe(kind);
});

test('choices, defaults, descriptions and what is required come from the schema', () => {
  const fields = fieldsOf(
    z.strictObject({
      order: z.enum(['up', 'down']).default('up').describe('Which way.'),
      name: z.string(),
      quiet: z.boolean().default(true),
    }),
  );
  expect(fields).toEqual([
    {
      name: 'order',
      flag: 'order',
      kind: 'text',
      required: false,
      description: 'Which way.',
      choices: ['up', 'down'],
      defaultText: 'up',
      isPath: false,
    },
    {
      name: 'name',
      flag: 'name',
      kind: 'text',
      required: true,
      description: undefined,
      choices: undefined,
      defaultText: undefined,
      isPath: false,
    },
    {
      name: 'quiet',
      flag: 'quiet',
      kind: 'boolean',
      required: false,
      description: undefined,
      choices: undefined,
      defaultText: 'true',
      isPath: false,
    },
  ]);
});

test('a path is marked as one, so that it is read from where the person stands', () => {
  expect(fieldsOf(z.strictObject({ file: z.string().meta({ format: 'path' }).optional() }))[0]?.isPath).toBe(true);
});
