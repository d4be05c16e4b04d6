// Arguments that do not fit: every message names the argument, what is wrong with it and what it is for.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { parseInput } from './misuse.ts';

const operation = defineOperation<unknown, unknown>({
  name: 'notes.add',
  summary: 'Add a note.',
  input: z.strictObject({
    title: z.string().trim().min(1).max(8).describe('What it is called'),
    count: z.int().min(1).max(3).optional().describe('How many.'),
    kind: z.enum(['a', 'b']).describe('Which sort.'),
    tags: z.array(z.string()).default([]),
    place: z.strictObject({ city: z.string() }).optional().describe('Where it was written.'),
    plain: z.string().optional(),
  }),
  output: z.unknown(),
  effect: 'look',
  access: 'local',
  run: () => Promise.resolve({}),
});

const good = { title: 'x', kind: 'a' };

test.each<[unknown, string]>([
  [{ kind: 'a' }, "Missing required argument 'title'. What it is called."],
  [{ ...good, title: undefined }, "Missing required argument 'title'. What it is called."],
  [{ ...good, title: '' }, "Missing required argument 'title'. What it is called."],
  [{ ...good, title: '  ' }, "Missing required argument 'title'. What it is called."],
  [{ title: 'x' }, "Missing required argument 'kind'. Which sort."],
  [{ ...good, title: null }, "Invalid argument 'title': expected string, received null. What it is called."],
  [{ ...good, title: 'far too long' }, "Invalid argument 'title': expected string to have <=8 characters. What it is called."],
  [{ ...good, count: 0 }, "Invalid argument 'count': expected number to be >=1. How many."],
  [{ ...good, count: 1.5 }, "Invalid argument 'count': expected int, received number. How many."],
  [{ ...good, kind: 'c' }, `Invalid argument 'kind': Invalid option: expected one of "a"|"b". Which sort.`],
  [{ ...good, tags: ['a', 7] }, "Invalid argument 'tags.1': expected string, received number."],
  [{ ...good, place: {} }, "Missing required argument 'place.city'. Where it was written."],
  [{ ...good, plain: 7 }, "Invalid argument 'plain': expected string, received number."],
  [
    { ...good, titel: 'x' },
    "Unknown argument 'titel' for notes.add. Did you mean 'title'? It takes: title, count, kind, tags, place, plain.",
  ],
  [{ ...good, x1: 1, x2: 2 }, "Unknown arguments 'x1', 'x2' for notes.add. It takes: title, count, kind, tags, place, plain."],
  ['text', 'Invalid input: expected object, received string.'],
])('[TOOL-7] %j: %s', (input, message) => {
  expect(() => parseInput(operation, input)).toThrow(
    expect.objectContaining({ kind: 'invalid', code: 'gateway.misuse', message }) as Error,
  );
});

test('[TOOL-7] a tool that takes nothing says so, under the name agents know', () => {
  const bare = { ...operation, input: z.strictObject({}), tool: { toolset: 'gate', name: 'scopegate_bare' } as const };
  expect(() => parseInput(bare, { verbose: true })).toThrow("Unknown argument 'verbose' for scopegate_bare. It takes none.");
});

test('[TOOL-7] a message stays short however much was sent', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}${'k'.repeat(5_000)}`, 1]));
  expect(() => parseInput(operation, { ...good, ...many })).toThrow(/^.{1,600}$/s);
});

test('what fits comes back as the schema has it', () => {
  expect(parseInput(operation, { title: ' x ', kind: 'b' })).toEqual({ title: 'x', kind: 'b', tags: [] });
});
