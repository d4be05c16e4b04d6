// Whole command lines, from words to streams and exit code.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptCli } from '../../../test/support/scripted-cli.ts';
import { createSmallDispatch } from '../../../test/support/small-dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Command } from './command.ts';
import { commandsOf } from './operation-commands.ts';
import { runCommandLine } from './run-command-line.ts';

async function run(...argv: string[]) {
  const dispatch = createSmallDispatch();
  const cli = scriptCli({ dispatch });
  const unexpected: unknown[] = [];
  const code = await runCommandLine(argv, commandsOf(dispatch.operations), cli, (error) => unexpected.push(error));
  return { code, stdout: cli.stdout.join('\n'), stderr: cli.stderr.join('\n'), unexpected };
}

test('[CLI-1] without words, and for help, every command is listed', async () => {
  const help = await run();
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('  note add      Add a note.');
  expect(help.stdout).toContain('Exit codes: 0 done, 1 failed, 2 the command line was wrong.');
  for (const argv of [['help'], ['--help'], ['-h']]) expect((await run(...argv)).stdout).toBe(help.stdout);
});

test('[CLI-1] every command explains itself', async () => {
  for (const command of commandsOf(createSmallDispatch().operations)) {
    const { code, stdout } = await run(...command.words, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: sallyport ${command.words.join(' ')}`);
    expect(stdout).toContain('--json');
    expect(stdout.startsWith(command.summary)).toBe(true);
    expect((await run('help', ...command.words)).stdout).toBe(stdout);
  }
});

test('the help of one command is written from its schema', async () => {
  expect((await run('note', 'list', '--help')).stdout).toBe(
    [
      'List the notes.',
      '',
      'Usage: sallyport note list [options]',
      '',
      'Options:',
      '  --limit N        At most so many. (default 10)',
      '  --order up|down  (default up)',
      '  --done           Also those that are done.',
      '  --json           Print the output as one line of JSON.',
      '  --help           Show this page.',
    ].join('\n'),
  );
  expect((await run('note', 'add', '--help')).stdout).toContain('Needs the operator');
});

test('the first words of commands list what may follow', async () => {
  const { code, stdout } = await run('note', '--help');
  expect(code).toBe(0);
  expect(stdout).toContain('note check');
  expect(stdout).not.toContain('operator');
});

test.each([
  [['frobnicate'], "sallyport: there is no command 'frobnicate'\nSee: sallyport --help"],
  [['nota', 'list'], "sallyport: there is no command 'nota'\nDid you mean: sallyport note?"],
  [['note', 'lits'], "sallyport: there is no command 'note lits'\nDid you mean: sallyport note list?"],
  [['note'], "sallyport: 'note' needs one more word: add, list, check\nSee: sallyport note --help"],
  [['note', '--json'], '{"error":{"kind":"invalid","code":"cli.misuse"'],
  [['note', 'list', '--limit'], 'sallyport: --limit needs a value\nUsage: sallyport note list [options]'],
])('[CLI-1] %j is misuse: exit code 2 and a way out', async (argv, stderr) => {
  const result = await run(...argv);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr.startsWith(stderr)).toBe(true);
});

test('[CLI-1] a refusal is exit code 1 with one line and a hint; with --json one line of JSON on standard error', async () => {
  expect(await run('note', 'check', 'x', '--fails', 'denied', '--', 'a')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'sallyport: refused: x\nDo it otherwise.',
  });
  const { stderr, stdout } = await run('note', 'check', 'x', '--fails', 'denied', '--json', '--', 'a');
  expect(stdout).toBe('');
  expect(JSON.parse(stderr)).toEqual({
    error: { kind: 'denied', code: 'notes.denied', message: 'refused: x', hint: 'Do it otherwise.' },
  });
});

test('a path is sent as seen from where the person stands', async () => {
  const seen: unknown[] = [];
  const check = defineOperation<{ file: string }, object>({
    name: 'notes.read',
    summary: 'Read a file.',
    input: z.strictObject({ file: z.string().meta({ format: 'path' }) }),
    output: z.looseObject({}),
    effect: 'look',
    access: 'local',
    command: { words: 'note read', positionals: ['file'] },
    run: () => Promise.resolve({}),
  });
  const cli = scriptCli({ dispatch: createSmallDispatch() });
  const daemon = { ...cli.daemon, operate: (_: string, input: unknown) => Promise.resolve(seen.push(input)) };
  expect(await runCommandLine(['note', 'read', 'a.yaml'], commandsOf([check]), { ...cli, daemon })).toBe(0);
  expect(seen).toEqual([{ file: '/here/a.yaml' }]);
});

test('ls and list, rm and remove are the same word', async () => {
  expect(await run('note', 'ls', '--json')).toMatchObject({ code: 0, stdout: '[]' });
});

test('a --json after -- belongs to the other command', async () => {
  const { stderr } = await run('note', 'check', 'x', '--fails', 'denied', '--', 'a', '--json');
  expect(stderr).toBe('sallyport: refused: x\nDo it otherwise.');
});

test('an answer that says it failed is exit code 1', async () => {
  expect(await run('note', 'check', 'wrong', '--json', '--', 'a')).toMatchObject({ code: 1, stdout: '{"ok":false}', stderr: '' });
  expect(await run('note', 'check', 'fine', '--', 'a')).toMatchObject({ code: 0, stdout: 'good' });
});

test('--json prints exactly the output; without it a person reads a table', async () => {
  expect((await run('note', 'list', '--json')).stdout).toBe('[]');
  expect((await run('note', 'list')).stdout).toBe('nothing to show');
});

test('what nobody expected is exit code 1 and keeps its message for the reporter', async () => {
  const broken: Command = {
    ...(commandsOf(createSmallDispatch().operations)[1] as Command),
    run: () => Promise.reject(new Error('SECRET')),
  };
  const cli = scriptCli({ dispatch: createSmallDispatch() });
  const seen: unknown[] = [];
  expect(await runCommandLine(['note', 'list'], [broken], cli, (error) => seen.push(error))).toBe(1);
  expect(cli.stderr.join('')).not.toContain('SECRET');
  expect(seen).toHaveLength(1);
});

test('an error’s text cannot steer the terminal', async () => {
  const broken: Command = {
    ...(commandsOf(createSmallDispatch().operations)[1] as Command),
    run: () => Promise.reject(new AppError('denied', 'x.y', 'agent said \u001b[2J\nsallyport: all is well', { retryAfterMs: 900 })),
  };
  const cli = scriptCli({ dispatch: createSmallDispatch() });
  await runCommandLine(['note', 'list'], [broken], cli);
  expect(cli.stderr).toEqual(['sallyport: agent said \\u{1b}[2J\\nsallyport: all is well\nTry again in 1 s.']);
});
