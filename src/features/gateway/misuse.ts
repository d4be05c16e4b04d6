// Arguments that do not fit an operation, told so that the next call does: which one, what is wrong with it, and what it is for, in
// the words of the schema itself. Knows no operation by name.
import { toJSONSchema, type ZodError } from 'zod';
import { closest } from '../../lib/closest.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Operation } from '../../kernel/operation.ts';

type Issue = ZodError['issues'][number];
type Fields = Readonly<Record<string, { readonly description?: string }>>;

/** The input as its schema has it; throws `gateway.misuse` (kind invalid). Texts around a value's own are the gate contract's. */
export function parseInput(operation: Operation, input: unknown): unknown {
  const parsed = operation.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError(
    'invalid',
    'gateway.misuse',
    issue === undefined ? 'The arguments do not fit.' : explain(issue, operation, input),
  );
}

function explain(issue: Issue, operation: Operation, input: unknown): string {
  const fields = fieldsOf(operation);
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    // A schema that says it in words of its own is not talked over.
    if (!issue.message.startsWith('Unrecognized key')) return sentence(issue.message);
    return unknown(issue.keys, operation, Object.keys(fields));
  }
  const path = issue.path.join('.').slice(0, 128);
  if (path === '') return sentence(issue.message);
  const about = fields[String(issue.path[0])]?.description;
  const purpose = about === undefined ? '' : ` ${sentence(about)}`;
  if (isMissing(issue, input)) return `Missing required argument '${path}'.${purpose}`;
  return `Invalid argument '${path}': ${sentence(issue.message.replace(/^(Invalid input|Too big|Too small): /, ''))}${purpose}`;
}

function unknown(keys: readonly string[], operation: Operation, known: readonly string[]): string {
  const named = keys
    .slice(0, 5)
    .map((key) => `'${key.slice(0, 64)}'`)
    .join(', ');
  const meant = keys.length === 1 ? closest(keys[0] ?? '', known) : undefined;
  const takes = known.length === 0 ? 'It takes none.' : `It takes: ${known.join(', ')}.`;
  return [
    `Unknown argument${keys.length > 1 ? 's' : ''} ${named} for ${operation.tool?.name ?? operation.name}.`,
    meant === undefined ? takes : `Did you mean '${meant}'? ${takes}`,
  ].join(' ');
}

/** Not there at all, or a text with nothing in it where something is required. */
function isMissing(issue: Issue, input: unknown): boolean {
  const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], input);
  if (value === undefined) return true;
  return issue.code === 'too_small' && typeof value === 'string' && Number(issue.minimum) === 1 && value.trim() === '';
}

function fieldsOf({ input }: Operation): Fields {
  return (toJSONSchema(input, { io: 'input', unrepresentable: 'any' }).properties ?? {}) as Fields;
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
