// What a person reads before signing: every field the signature covers, in words and without tricks.
import { printable, printableJson } from '../../lib/printable.ts';
import type { Statement } from '../../kernel/dispatch.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

/** Several lines. Long or nested values are whole: what is signed is never cut short. */
export function drawStatement(statement: Statement, summary: string): string {
  return [
    'To be signed by the operator',
    `  ${printable(summary)}`,
    '',
    `  operation     ${printable(statement.operation)}`,
    ...section('asked for', statement.input),
    ...section('what it means now', statement.shown),
    `  installation  ${printable(statement.installation)}`,
    `  valid until   ${printable(statement.expiresAt)}`,
  ].join('\n');
}

function section(title: string, facts: JsonObject): string[] {
  return Object.keys(facts).length === 0 ? [] : [`  ${title}`, ...drawFacts(facts, '    ')];
}

function drawFacts(facts: JsonObject, indent: string): string[] {
  const width = Math.max(...Object.keys(facts).map((key) => printable(key).length));
  return Object.entries(facts).flatMap(([key, value]) => drawFact(printable(key).padEnd(width), value, indent));
}

function drawFact(label: string, value: Json, indent: string): string[] {
  // A text of several lines, such as a policy or a definition, keeps its lines; each carries a mark no text can fake.
  if (typeof value === 'string' && value.includes('\n')) {
    return [`${indent}${label.trimEnd()}`, ...value.split('\n').map((line) => `${indent}  | ${printable(line)}`)];
  }
  if (typeof value === 'string') return [`${indent}${label}  ${printable(value)}`];
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    return [
      `${indent}${label.trimEnd()}`,
      ...printableJson(value, 2)
        .split('\n')
        .map((line) => `${indent}  | ${line}`),
    ];
  }
  return [`${indent}${label}  ${printableJson(value)}`];
}
