// Tables of command lines: what each means, and what each mistake is told.
import { expect, test } from 'vitest';
import { smallOperations } from '../../../test/support/small-dispatch.ts';
import { AppError } from '../../kernel/errors.ts';
import { exitCodeOf } from './failure.ts';
import { commandsOf } from './operation-commands.ts';
import { parseArguments } from './parse-arguments.ts';

const commands = commandsOf(smallOperations());

function parse(words: string, argv: string[]) {
  const command = commands.find((candidate) => candidate.words.join(' ') === words);
  if (command === undefined) throw new Error(words);
  return parseArguments(command, argv);
}

function mistake(words: string, argv: string[]): AppError {
  try {
    parse(words, argv);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error(`${argv.join(' ')} was understood`);
}

test.each<[string, string[], object]>([
  ['note add', ['hello'], { text: 'hello' }],
  ['note add', ['--text', 'hello'], { text: 'hello' }],
  ['note add', ['--text=a=b'], { text: 'a=b' }],
  ['note add', ['hello', '--tag', 'x', '--tag=y'], { text: 'hello', tag: ['x', 'y'] }],
  ['note add', ['hello', '--env', 'A=1', '--env', 'B=x=y'], { text: 'hello', env: { A: '1', B: 'x=y' } }],
  ['note add', ['--', '--text'], { text: '--text' }],
  ['note add', ['-5 degrees'], { text: '-5 degrees' }],
  ['note list', [], {}],
  ['note list', ['--limit', '5', '--done'], { limit: 5, done: true }],
  ['note list', ['--no-done', '--order', 'down'], { done: false, order: 'down' }],
  ['note list', ['--done=false'], { done: false }],
  ['note check', ['n', '--', 'npx', '-y', '--json', 'x'], { name: 'n', command: ['npx', '-y', '--json', 'x'] }],
])('[CLI-1] %s %j is understood', (words, argv, given) => {
  expect(parse(words, argv)).toEqual({ kind: 'run', invocation: { given, json: false } });
});

test('--json may stand anywhere before --', () => {
  for (const argv of [
    ['--json', 'hello'],
    ['hello', '--json'],
  ]) {
    expect(parse('note add', argv)).toEqual({ kind: 'run', invocation: { given: { text: 'hello' }, json: true } });
  }
});

test('--help wins over anything that is missing', () => {
  expect(parse('note add', ['--help'])).toEqual({ kind: 'help' });
  expect(parse('note add', ['--tag', 'x', '-h'])).toEqual({ kind: 'help' });
});

test.each<[string, string[], string, string]>([
  ['note add', [], 'TEXT is missing', 'Usage: sallyport note add TEXT [options]'],
  ['note add', ['x'], 'TEXT: must have at least 2 characters', 'Usage: sallyport note add TEXT [options]'],
  ['note add', ['hello', 'world'], "unexpected argument 'world'", 'Usage: sallyport note add TEXT [options]'],
  ['note add', ['hello', '--tagg', 'x'], 'there is no option --tagg', 'Did you mean --tag?'],
  ['note add', ['hello', '-t'], 'there is no option -t', 'Did you mean --tag?'],
  ['note add', ['--tag'], '--tag needs a value', 'Usage: sallyport note add TEXT [options]'],
  ['note add', ['hello', '--tag', '--json'], '--tag needs a value', 'Write --tag=--json if the value itself begins with --.'],
  ['note add', ['hello', '--text', 'again'], "unexpected argument 'hello'", 'Usage: sallyport note add TEXT [options]'],
  ['note add', ['--text', 'aa', '--text', 'bb'], '--text is given twice', 'Give it once.'],
  ['note add', ['hello', '--env', 'novalue'], "--env must be KEY=VALUE, not 'novalue'", 'For example: --env LANG=C'],
  ['note list', ['--limit', 'ten'], "--limit must be a number, not 'ten'", 'For example: --limit 10'],
  ['note list', ['--limit', '1e3'], "--limit must be a number, not '1e3'", 'For example: --limit 10'],
  ['note list', ['--limit', '0'], '--limit: Too small: expected number to be >=1', 'Usage: sallyport note list [options]'],
  [
    'note list',
    ['--order', 'sideways'],
    '--order: Invalid option: expected one of "up"|"down"',
    'Usage: sallyport note list [options]',
  ],
  ['note list', ['--done', 'yes'], "unexpected argument 'yes'", 'Usage: sallyport note list [options]'],
  [
    'note list',
    ['--done=maybe'],
    '--done is a switch; it takes no value but true or false',
    'Usage: sallyport note list [options]',
  ],
  ['note list', ['--json=1'], '--json takes no value', 'Usage: sallyport note list [options]'],
  ['note check', ['n'], 'COMMAND after -- is missing', 'Usage: sallyport note check NAME [options] -- COMMAND…'],
  ['note check', ['n', 'npx', '--', 'y'], "unexpected argument 'npx'", 'Usage: sallyport note check NAME [options] -- COMMAND…'],
])('[CLI-1] %s %j is told what is wrong, with exit code 2', (words, argv, message, hint) => {
  const error = mistake(words, argv);
  expect({ message: error.message, hint: error.hint, exit: exitCodeOf(error) }).toEqual({ message, hint, exit: 2 });
});

test('a key named __proto__ is a key like any other and pollutes nothing', () => {
  const parsed = parse('note add', ['hello', '--env', '__proto__=x']);
  expect(parsed.kind === 'run' ? Object.keys(parsed.invocation.given['env'] as object) : []).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});
