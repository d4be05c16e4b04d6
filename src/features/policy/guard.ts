// A guard: what named arguments of a call must be. Tests arguments that are there; what absent ones mean is for the caller to say.
import type { JsonObject } from '../../kernel/json.ts';
import { parseResourcePattern } from './pattern.ts';
import { wildcardCovers } from './wildcard.ts';

/** Argument name → what it must equal; a string is a pattern of the resource kind (`*` matches any run). */
export type Guard = Readonly<Record<string, string | number | boolean>>;

/** Whether every argument the guard names is there and matches. */
export function guardTest(guard: Guard): (args: JsonObject) => boolean {
  const tests = Object.entries(guard).map(([name, expected]) => [name, valueTest(expected)] as const);
  return (args) => tests.every(([name, test]) => Object.hasOwn(args, name) && test(args[name]));
}

/** Texts are compared in NFC, as the patterns are: the decomposed spelling of a name is the same name. */
function valueTest(expected: Guard[string]): (value: unknown) => boolean {
  if (typeof expected !== 'string') return (value) => value === expected;
  const members = parseResourcePattern(expected);
  return (value) => {
    if (typeof value !== 'string') return false;
    const text = value.normalize('NFC');
    return members.some((member) => wildcardCovers(member, text));
  };
}
