// Arguments of one command, read against its fields: positionals, `--flag value`, `--flag=value`, `--no-flag`, `-- rest`.
// Knows texts and kinds; what a value may be is the schema's business.
import { closest } from '../../lib/closest.ts';
import type { Command, Invocation } from './command.ts';
import type { Field } from './fields.ts';
import { fieldsOf } from './fields.ts';
import { usageOf } from './help.ts';
import { misuse } from './misuse.ts';

export type Parsed = { readonly kind: 'help' } | { readonly kind: 'run'; readonly invocation: Invocation };

/** Throws `cli.misuse`. The given values pass the command's schema; the returned ones are as typed, so that they are checked again where they count. */
export function parseArguments(command: Command, argv: readonly string[]): Parsed {
  const usage = usageOf(command);
  const reading = new Map<string, unknown>();
  const fields = fieldsOf(command.input);
  const positionals = command.positionals.flatMap((name) => fields.filter((field) => field.name === name));
  const free: string[] = [];
  let rest: string[] | undefined;
  let json = false;

  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') {
      rest = argv.slice(at + 1);
      break;
    }
    if (word === '--help' || word === '-h') return { kind: 'help' };
    if (!word.startsWith('-') || word === '-' || /^-\d/.test(word)) {
      free.push(word);
      continue;
    }
    const [flag, inline] = splitFlag(word);
    if (flag === '--json') {
      if (inline !== undefined) throw misuse('--json takes no value', usage);
      json = true;
      continue;
    }
    const { field, negated } = fieldOf(flag, fields, usage);
    if (field.kind === 'boolean') {
      put(reading, field, negated ? false : booleanOf(flag, inline, usage));
      continue;
    }
    const value = inline ?? argv[(at += 1)];
    if (value === undefined || (inline === undefined && value.startsWith('--'))) {
      throw misuse(
        `${flag} needs a value`,
        value === undefined ? usage : `Write ${flag}=${value} if the value itself begins with --.`,
      );
    }
    put(reading, field, valueOf(flag, field, value));
  }

  if (rest !== undefined && command.rest === undefined) free.push(...rest);
  else if (rest !== undefined && command.rest !== undefined) reading.set(command.rest, rest);
  takePositionals(reading, positionals, free, usage);

  const given = Object.fromEntries(reading);
  checkAgainstSchema(command, fields, given, usage);
  return { kind: 'run', invocation: { given, json } };
}

function splitFlag(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function fieldOf(flag: string, fields: readonly Field[], usage: string): { field: Field; negated: boolean } {
  const name = flag.replace(/^--?/, '');
  const field = flag.startsWith('--') ? fields.find((candidate) => candidate.flag === name) : undefined;
  if (field !== undefined) return { field, negated: false };
  const negated = fields.find((candidate) => candidate.kind === 'boolean' && `no-${candidate.flag}` === name);
  if (flag.startsWith('--') && negated !== undefined) return { field: negated, negated: true };
  const meant = closest(name, [...fields.map((candidate) => candidate.flag), 'json', 'help']);
  throw misuse(`there is no option ${flag}`, meant === undefined ? usage : `Did you mean --${meant}?`);
}

function booleanOf(flag: string, inline: string | undefined, usage: string): boolean {
  if (inline === undefined || inline === 'true') return true;
  if (inline === 'false') return false;
  throw misuse(`${flag} is a switch; it takes no value but true or false`, usage);
}

function valueOf(flag: string, field: Field, text: string): unknown {
  switch (field.kind) {
    case 'number': {
      if (!/^-?\d+(\.\d+)?$/.test(text)) throw misuse(`${flag} must be a number, not '${text}'`, `For example: ${flag} 10`);
      return Number(text);
    }
    case 'map': {
      const equals = text.indexOf('=');
      if (equals < 1) throw misuse(`${flag} must be KEY=VALUE, not '${text}'`, `For example: ${flag} LANG=C`);
      return [text.slice(0, equals), text.slice(equals + 1)];
    }
    case 'json': {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw misuse(`${flag} must be JSON`, `Quote it for the shell: ${flag} '{"key": "value"}'`);
      }
    }
    case 'text':
    case 'list':
    case 'boolean':
      break;
  }
  return text;
}

function put(reading: Map<string, unknown>, field: Field, value: unknown): void {
  const before = reading.get(field.name);
  if (field.kind === 'list') reading.set(field.name, [...((before as unknown[] | undefined) ?? []), value]);
  else if (field.kind === 'map')
    reading.set(field.name, { ...(before as object | undefined), ...Object.fromEntries([value as [string, unknown]]) });
  else if (before === undefined) reading.set(field.name, value);
  else throw misuse(`--${field.flag} is given twice`, 'Give it once.');
}

function takePositionals(reading: Map<string, unknown>, positionals: readonly Field[], free: string[], usage: string): void {
  for (const field of positionals) {
    if (free.length === 0) break;
    if (reading.has(field.name)) continue;
    // The last positional may be a list and takes all that is left.
    for (const text of field.kind === 'list' ? free.splice(0) : free.splice(0, 1))
      put(reading, field, valueOf(field.name, field, text));
  }
  const [extra] = free;
  if (extra !== undefined) throw misuse(`unexpected argument '${extra}'`, usage);
}

function checkAgainstSchema(command: Command, fields: readonly Field[], given: object, usage: string): void {
  const missing = fields.filter((field) => field.required && !(field.name in given));
  if (missing.length > 0) {
    const names = missing.map((field) => nameShown(command, field));
    throw misuse(`${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} missing`, usage);
  }
  const checked = command.input.safeParse(given);
  if (checked.success) return;
  const [issue] = checked.error.issues;
  const field = fields.find((candidate) => candidate.name === issue?.path[0]);
  const where = field === undefined ? '' : `${nameShown(command, field)}: `;
  throw misuse(`${where}${issue?.message ?? 'not understood'}`, usage);
}

function nameShown(command: Command, field: Field): string {
  if (command.positionals.includes(field.name)) return field.flag.toUpperCase().replaceAll('-', '_');
  return command.rest === field.name ? `${field.flag.toUpperCase()} after --` : `--${field.flag}`;
}
