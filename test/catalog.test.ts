// The public surface, frozen. A red golden asks: did you mean it? If so, refresh it with `npm test -- -u test/catalog.test.ts`, read
// its diff, and say in CHANGELOG.md what callers will notice. The reference pages are refreshed with `npm run docs`.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toJSONSchema } from 'zod';
import { referencePages, writtenPage } from '../scripts/reference.ts';
import { declaredOperations } from '../src/app/catalog.ts';
import { programCommands } from '../src/app/program.ts';
import { auditEvents } from '../src/features/audit/model.ts';

const operations = declaredOperations();
const commands = programCommands({ environment: {}, operations, startDaemon: () => Promise.reject(new Error()) }, '/home');

test('[HOUSE-2] operations, tools, schemas, commands and events are what the golden says', async () => {
  const surface = {
    operations: operations.map(({ name, summary, access, effect, tool, command, input, output }) => ({
      name,
      summary,
      access,
      effect,
      ...(tool === undefined ? {} : { tool }),
      ...(command === undefined ? {} : { command: command.words }),
      input: toJSONSchema(input, { io: 'input' }),
      output: toJSONSchema(output, { io: 'output', unrepresentable: 'any' }),
    })),
    commands: commands.map(({ words, positionals, rest, signed }) => ({
      words: words.join(' '),
      positionals,
      ...(rest === undefined ? {} : { rest }),
      signed,
    })),
    events: auditEvents,
  };
  await expect(`${JSON.stringify(surface, null, 2)}\n`).toMatchFileSnapshot('golden/catalog.json');
});

test('[HOUSE-2] every operation stands where its name says', () => {
  const misplaced = operations
    .map(({ name }) => name.split('.'))
    .filter(([slice, verb]) => !existsSync(new URL(`../src/features/${slice}/operations/${verb}.ts`, import.meta.url)));
  expect(misplaced).toEqual([]);
});

test('[HOUSE-2] the reference pages say what the declarations say', () => {
  for (const [path, text] of referencePages()) expect([path, writtenPage(path)]).toEqual([path, text]);
});
