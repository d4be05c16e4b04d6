// The catalog as declared: no part behind it is touched, and names and commands do not collide.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { commandsOf } from '../faces/cli/operation-commands.ts';
import { fieldsOf } from '../faces/cli/fields.ts';
import { commandHelp } from '../faces/cli/help.ts';
import { declaredOperations } from './catalog.ts';
import { programCommands } from './program.ts';

const operations = declaredOperations();
const commands = programCommands(
  { environment: {}, operations, startDaemon: () => Promise.reject(new Error('not here')) },
  '/nowhere',
);

test('operations are declared without a daemon, and none runs without its parts', async () => {
  expect(operations.length).toBeGreaterThan(10);
  const context = {
    caller: { kind: 'local' as const },
    signal: AbortSignal.timeout(1000),
    canProgress: false,
    progress: () => undefined,
  };
  const ran = await Promise.all(
    operations.map(({ name, run }) =>
      (async () => run({}, context))().then(
        () => name,
        () => undefined,
      ),
    ),
  );
  expect(ran.filter((name) => name !== undefined)).toEqual([]);
});

test('no two operations share a name, no two tools, no two commands', () => {
  for (const names of [
    operations.map(({ name }) => name),
    operations.flatMap(({ tool }) => (tool === undefined ? [] : [tool.name])),
    commands.map(({ words }) => words.join(' ')),
  ]) {
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  }
});

test('every operation lives by its slice and verb, and its schemas have a JSON form', () => {
  for (const { name, input, output } of operations) {
    expect(name).toMatch(/^[a-z]+\.[a-z-]+$/);
    expect({ name, found: existsSync(new URL(`../features/${name.replace('.', '/operations/')}.ts`, import.meta.url)) }).toEqual({
      name,
      found: true,
    });
    expect(() => z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })).not.toThrow();
    expect(() => z.toJSONSchema(output, { unrepresentable: 'any' })).not.toThrow();
  }
});

/** What git's helper asks at the agent door, with the agent's token: a protocol of its own and no tool. */
const behindTheHelper: ReadonlySet<string> = new Set(['gateway.git-credential', 'gateway.git-forget']);

test('every agent operation has a tool or is what git’s helper asks, and nothing an agent may do is a command', () => {
  for (const { name, access, tool, command } of operations) {
    expect({ name, tool: tool !== undefined, command: access === 'agent' && command !== undefined }).toEqual({
      name,
      tool: access === 'agent' && !behindTheHelper.has(name),
      command: false,
    });
  }
});

test('[CLI-1] every command names real fields in its places, explains itself, and has no field called json or help', () => {
  for (const command of commands) {
    const fields = fieldsOf(command.input);
    const names = fields.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...command.positionals, ...(command.rest === undefined ? [] : [command.rest])]));
    expect(fields.map(({ flag }) => flag)).not.toContain('json');
    expect(fields.map(({ flag }) => flag)).not.toContain('help');
    expect(command.summary).toMatch(/^[A-Z].*\.$/);
    expect(commandHelp(command)).toContain(`Usage: sallyport ${command.words.join(' ')}`);
  }
});

test('commands are told apart by their words alone', () => {
  // `approve` beside `approve all` would make `all` an id or a word by accident.
  const lines = commandsOf(operations).map(({ words, positionals }) => ({ words, positionals }));
  for (const { words, positionals } of lines) {
    const longer = lines.filter(
      (other) => other.words.length > words.length && words.every((word, at) => other.words[at] === word),
    );
    expect(positionals.length > 0 ? longer.map((other) => other.words.join(' ')) : []).toEqual([]);
  }
});
