// One command line from words to exit code: find the command, answer --help, read the arguments, run, say what failed.
import { closest } from '../../lib/closest.ts';
import { asAppError } from '../../kernel/errors.ts';
import type { Command } from './command.ts';
import { drawFailure, exitCodeOf } from './failure.ts';
import { commandHelp, overview } from './help.ts';
import { misuse } from './misuse.ts';
import { parseArguments } from './parse-arguments.ts';
import type { Cli } from './ports.ts';

/** Never rejects. `unexpected` hears of errors that are nobody's doing, before the one line about them is printed. */
export async function runCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  cli: Cli,
  unexpected: (error: unknown) => void = () => undefined,
): Promise<number> {
  try {
    return await runWords(argv, commands, cli);
  } catch (thrown) {
    const error = asAppError(thrown);
    if (error.kind === 'internal') unexpected(thrown);
    const end = argv.indexOf('--');
    cli.note(drawFailure(error, (end === -1 ? argv : argv.slice(0, end)).includes('--json')));
    return exitCodeOf(error);
  }
}

async function runWords(argv: readonly string[], commands: readonly Command[], cli: Cli): Promise<number> {
  const [first] = argv;
  if (first === undefined || first === '--help' || first === '-h') {
    cli.out(overview(commands));
    return 0;
  }
  // `sallyport help agent add` is `sallyport agent add --help`.
  if (first === 'help') return runWords([...argv.slice(1), '--help'], commands, cli);
  const command = commandNamed(argv, commands);
  if (command === undefined) {
    const prefix = prefixOf(argv, commands);
    const [next] = argv.slice(prefix.length);
    if (prefix.length > 0 && (next === '--help' || next === '-h')) {
      cli.out(overview(commands, prefix));
      return 0;
    }
    throw unknownCommand(argv, prefix, commands);
  }
  const parsed = parseArguments(command, argv.slice(command.words.length));
  if (parsed.kind === 'help') {
    cli.out(commandHelp(command));
    return 0;
  }
  return command.run(parsed.invocation, cli);
}

/** People coming from other programs type either. */
const synonyms: Readonly<Record<string, string>> = { list: 'ls', remove: 'rm' };

function same(typed: string | undefined, word: string | undefined): boolean {
  if (typed === undefined || word === undefined) return false;
  return typed === word || (synonyms[typed] ?? typed) === (synonyms[word] ?? word);
}

/** The command with the most words that the line begins with. */
function commandNamed(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .filter((command) => command.words.every((word, at) => same(argv[at], word)))
    .sort((a, b) => b.words.length - a.words.length)[0];
}

/** The leading words that begin some command. */
function prefixOf(argv: readonly string[], commands: readonly Command[]): readonly string[] {
  let length = 0;
  while (
    length < argv.length &&
    commands.some((command) => argv.slice(0, length + 1).every((word, at) => same(word, command.words[at])))
  ) {
    length += 1;
  }
  return argv.slice(0, length);
}

function unknownCommand(argv: readonly string[], prefix: readonly string[], commands: readonly Command[]): Error {
  const typed = argv.slice(0, prefix.length + 1).filter((word) => !word.startsWith('-'));
  const nextWords = commands
    .filter((command) => prefix.every((word, at) => same(word, command.words[at])))
    .map((command) => command.words[prefix.length] ?? '');
  const wrong = typed[prefix.length];
  if (wrong === undefined) {
    return misuse(
      `'${prefix.join(' ')}' needs one more word: ${[...new Set(nextWords)].join(', ')}`,
      `See: sallyport ${prefix.join(' ')} --help`,
    );
  }
  const meant = closest(wrong, nextWords);
  return misuse(
    `there is no command '${typed.join(' ')}'`,
    meant === undefined
      ? `See: sallyport ${[...prefix, '--help'].join(' ')}`
      : `Did you mean: sallyport ${[...prefix, meant].join(' ')}?`,
  );
}
