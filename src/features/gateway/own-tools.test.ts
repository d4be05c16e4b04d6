import { expect, test } from 'vitest';
import { z } from 'zod';
import { declaredOperations } from '../../app/catalog.ts';
import { defineOperation, type Operation } from '../../kernel/operation.ts';
import { createOwnTools } from './own-tools.ts';

const safe = { style: 'safe' } as const;
const plain = { style: 'plain' } as const;

function own(...names: string[]): Operation[] {
  return names.map((name) =>
    defineOperation({
      name: `test.${name}`,
      summary: `Does ${name}.`,
      input: z.strictObject({}),
      output: z.strictObject({}),
      effect: 'look',
      access: 'agent',
      tool: { toolset: 'gate', name },
      run: () => Promise.resolve({}),
    }),
  );
}

const namesOf = (operations: Operation[], naming: typeof safe | typeof plain): string[] =>
  createOwnTools(operations, naming).listed.map((text) => (JSON.parse(text) as { name: string }).name);

test('[NAME-3] safe naming maps the dots of own tools, and both spellings are understood', () => {
  const operations = own('hack.status', 'scopegate_can_i');
  expect(namesOf(operations, plain)).toEqual(['hack.status', 'scopegate_can_i']);
  expect(namesOf(operations, safe)).toEqual(['hack_status', 'scopegate_can_i']);
  const tools = createOwnTools(operations, safe);
  expect([tools.operation('hack_status'), tools.operation('hack.status')]).toEqual([operations[0], operations[0]]);
  expect(createOwnTools(operations, plain).operation('hack_status')).toBeUndefined();
});

test('[NAME-3] own tools that would share a name, or take one of an upstream, are refused at the start', () => {
  expect(() => createOwnTools(own('a.b', 'a_b'), plain)).not.toThrow();
  expect(() => createOwnTools(own('a.b', 'a_b'), safe)).toThrow("two own tools are called 'a_b'");
  expect(() => createOwnTools(own('status', 'Status'), plain)).toThrow('two own tools');
  expect(() => createOwnTools(own('up__search'), plain)).toThrow('like those of upstreams');
  expect(() => createOwnTools(own('a._b'), safe)).toThrow('like those of upstreams');
});

test('[NAME-3] the own tools there are have names that every model takes', () => {
  const names = namesOf(declaredOperations(), safe);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});
