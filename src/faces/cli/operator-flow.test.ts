// The decision of a person: what is shown, what is signed, and everything that ends it before a signature.
import { expect, test } from 'vitest';
import { scriptCli, type Script } from '../../../test/support/scripted-cli.ts';
import { createSmallDispatch } from '../../../test/support/small-dispatch.ts';
import { createTestOperator } from '../../../test/support/test-operator.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import { commandsOf } from './operation-commands.ts';
import { runCommandLine } from './run-command-line.ts';

const right = 'open sesame please';

async function run(argv: string[], script: Omit<Script, 'dispatch'>, twist?: (statement: Statement) => Statement) {
  const dispatch = createSmallDispatch();
  const operator = createTestOperator();
  dispatch.operatorKey = operator.publicKey;
  if (twist !== undefined) dispatch.twist = twist;
  const cli = scriptCli({ operator, ...script, dispatch });
  const code = await runCommandLine(argv, commandsOf(dispatch.operations), cli);
  return { code, journal: dispatch.journal, stdout: cli.stdout.join('\n'), stderr: cli.stderr.join('\n'), prompts: cli.prompts };
}

test('at a terminal the statement is shown, a yes and a hidden passphrase sign it', async () => {
  const { code, journal, stdout, stderr, prompts } = await run(['note', 'add', 'hello', '--json'], { answers: ['y', right] });
  expect([code, journal, stdout]).toEqual([0, ['did notes.add {"text":"hello"} by passphrase'], '{"id":1,"token":"T"}']);
  expect(prompts).toEqual(['Sign and do this? [y/N] ', 'hidden Operator passphrase: ']);
  for (const fact of ['notes.add', 'hello', 'exactly', 'inst-1', 'valid until']) expect(stderr).toContain(fact);
});

test('with a passphrase file nothing is asked and the signature is marked', async () => {
  const { code, journal, prompts } = await run(['note', 'add', 'hello'], { passphraseFile: right });
  expect([code, journal, prompts]).toEqual([0, ['did notes.add {"text":"hello"} by passphrase_file'], []]);
});

test('without a terminal and a file it says exactly what to do, before anything is prepared', async () => {
  const { code, journal, stdout, stderr } = await run(['note', 'add', 'hello'], {});
  expect([code, journal, stdout]).toEqual([1, [], '']);
  expect(stderr).toMatch(/^sallyport: .*no terminal/);
  expect(stderr).toContain('SALLYPORT_OPERATOR_PASSPHRASE_FILE');
  expect(stderr).toContain('chmod 600');
});

test.each([[''], ['n'], ['no'], ['yesterday']])('the answer %j signs nothing', async (answer) => {
  const { code, journal, prompts } = await run(['note', 'add', 'hello'], { answers: [answer, right] });
  expect([code, journal, prompts.length]).toEqual([1, [], 1]);
});

test('a wrong passphrase may be typed again twice and then decides nothing', async () => {
  expect(await run(['note', 'add', 'hello'], { answers: ['y', 'wrong', right] })).toMatchObject({ code: 0 });
  const { code, journal, prompts, stderr } = await run(['note', 'add', 'hello'], { answers: ['y', 'a', 'b', 'c', right] });
  expect([code, journal, prompts.length]).toEqual([1, [], 4]);
  expect(stderr).toContain('sallyport: That passphrase does not open the operator key.');
});

test('a wrong passphrase in the file is said at once', async () => {
  expect(await run(['note', 'add', 'hello'], { passphraseFile: 'wrong' })).toMatchObject({ code: 1, journal: [] });
});

test.each<[string, (statement: Statement) => Statement]>([
  ['another operation', (statement) => ({ ...statement, operation: 'policy.apply' })],
  ['another input', (statement) => ({ ...statement, input: { text: 'hello2' } })],
  ['more input', (statement) => ({ ...statement, input: { ...statement.input, tag: ['x'] } })],
  ['another purpose', (statement) => ({ ...statement, purpose: 'other' as Statement['purpose'] })],
])('a daemon that wants %s signed gets no signature and the person no prompt', async (_, twist) => {
  const { code, journal, prompts, stderr } = await run(['note', 'add', 'hello'], { answers: ['y', right] }, twist);
  expect([code, journal, prompts]).toEqual([1, [], []]);
  expect(stderr).toContain('nothing was signed');
});

test('an expired statement is not signed', async () => {
  const { code, journal, stderr } = await run(['note', 'add', 'hello'], { answers: ['y', right] }, (statement) => ({
    ...statement,
    expiresAt: '2020-01-01T00:00:00.000Z',
  }));
  expect([code, journal]).toEqual([1, []]);
  expect(stderr).toContain('expired');
});

test('no key in this home is said with the command that makes one', async () => {
  const dispatch = createSmallDispatch();
  dispatch.operatorKey = createTestOperator().publicKey;
  const cli = scriptCli({ dispatch, answers: ['y'] });
  expect(await runCommandLine(['note', 'add', 'hello'], commandsOf(dispatch.operations), cli)).toBe(1);
  expect(cli.stderr.join('\n')).toContain('sallyport operator init');
  expect(cli.prompts).toEqual([]);
});

test('[CLI-1] what an agent wrote cannot hide, fake or erase a line of what is signed', async () => {
  const trick = 'harmless\u001b[1A\u001b[2K\nSign and do this? [y/N] y\n  operation     nothing.at.all\u202e';
  const { stderr } = await run(['note', 'add', trick], { answers: ['n'] });
  // oxlint-disable-next-line no-control-regex
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  const lines = stderr.split('\n');
  expect(lines.filter((line) => line.includes('Sign and do this?'))).toEqual([
    '      | Sign and do this? [y/N] y',
    '      | Sign and do this? [y/N] y',
  ]);
  expect(lines.filter((line) => /^ {2}operation/.test(line))).toEqual(['  operation     notes.add']);
});

test('what is signed is never cut short', async () => {
  const long = 'x'.repeat(20_000);
  const { stderr } = await run(['note', 'add', long, '--env', `KEY=${long}`], { answers: ['n'] });
  expect(stderr.split(long).length - 1).toBeGreaterThanOrEqual(3);
});
