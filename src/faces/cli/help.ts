// The pages of `--help`, generated from the commands; nothing in them is written twice.
import type { Command } from './command.ts';
import type { Field } from './fields.ts';
import { fieldsOf } from './fields.ts';
import { columns } from './table.ts';

const program = 'sallyport';

/** `Usage: sallyport agent add NAME [--json]` */
export function usageOf(command: Command): string {
  const fields = fieldsOf(command.input);
  const taken = new Set([...command.positionals, ...(command.rest === undefined ? [] : [command.rest])]);
  const parts = [program, ...command.words];
  for (const name of command.positionals) {
    const field = fields.find((candidate) => candidate.name === name);
    if (field !== undefined) parts.push(bracketed(field, placeholder(field)));
  }
  for (const field of fields) if (field.required && !taken.has(field.name)) parts.push(option(field));
  if (fields.some((field) => !field.required && !taken.has(field.name))) parts.push('[options]');
  const rest = fields.find((field) => field.name === command.rest);
  if (rest !== undefined) parts.push(bracketed(rest, `-- ${placeholder(rest)}…`));
  return `Usage: ${parts.join(' ')}`;
}

export function commandHelp(command: Command): string {
  const fields = fieldsOf(command.input);
  const positional = new Set([...command.positionals, ...(command.rest === undefined ? [] : [command.rest])]);
  const inPlace = fields.filter((field) => positional.has(field.name));
  const options = fields.filter((field) => !positional.has(field.name));
  const lines = [command.summary, '', usageOf(command)];
  if (command.description !== undefined) lines.push('', command.description.trim());
  if (inPlace.length > 0)
    lines.push('', 'Arguments:', ...columns(inPlace.map((field) => [`  ${placeholder(field)}`, explained(field)])));
  lines.push(
    '',
    'Options:',
    ...columns([
      ...options.map((field) => [`  ${option(field)}`, explained(field)]),
      ['  --json', 'Print the output as one line of JSON.'],
      ['  --help', 'Show this page.'],
    ]),
  );
  if (command.signed) {
    lines.push('', 'Needs the operator: shows what will be done, then asks for the passphrase and signs exactly that.');
  }
  if (command.examples !== undefined) lines.push('', 'Examples:', ...command.examples.map((example) => `  ${program} ${example}`));
  return lines.join('\n');
}

/** Every command, or those that begin with `prefix`. */
export function overview(commands: readonly Command[], prefix: readonly string[] = []): string {
  const shown = commands
    .filter((command) => prefix.every((word, at) => command.words[at] === word))
    .map((command) => [`  ${command.words.join(' ')}`, command.summary]);
  const heading =
    prefix.length === 0
      ? ['The guarded way in between AI agents and everything they act on.', '', `Usage: ${program} COMMAND [arguments] [--json]`]
      : [`Usage: ${program} ${prefix.join(' ')} COMMAND`];
  return [
    ...heading,
    '',
    'Commands:',
    ...columns(shown),
    '',
    `${program} COMMAND --help explains one. Exit codes: 0 done, 1 failed, 2 the command line was wrong.`,
    ...(prefix.length === 0 ? ['State lives in SALLYPORT_HOME (default ~/.sallyport).'] : []),
  ].join('\n');
}

function placeholder(field: Field): string {
  if (field.choices !== undefined) return field.choices.join('|');
  if (field.kind === 'map') return 'KEY=VALUE';
  return field.flag.toUpperCase().replaceAll('-', '_');
}

function option(field: Field): string {
  if (field.kind === 'boolean') return field.defaultText === 'true' ? `--no-${field.flag}` : `--${field.flag}`;
  const value = field.choices?.join('|') ?? { text: 'TEXT', number: 'N', list: 'TEXT', map: 'KEY=VALUE', json: 'JSON' }[field.kind];
  return `--${field.flag} ${value}`;
}

function bracketed(field: Field, text: string): string {
  return field.required ? text : `[${text}]`;
}

function explained(field: Field): string {
  const notes: string[] = [];
  if (field.kind === 'list' || field.kind === 'map') notes.push('may be repeated');
  if (field.defaultText !== undefined && field.kind !== 'boolean') notes.push(`default ${field.defaultText}`);
  const description = field.description ?? '';
  return notes.length === 0 ? description : `${description}${description === '' ? '' : ' '}(${notes.join(', ')})`;
}
