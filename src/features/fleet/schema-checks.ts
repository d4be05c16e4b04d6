// Whether models and clients can take the schemas of a tool: what no JSON Schema allows, and what is legal and refused in the field all the
// same. Pure; judges shapes only, resolves no reference and validates no value. What follows from it is for definition.ts and a person.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { mirroredArguments } from '../../lib/mirrored-arguments.ts';
import { printable } from '../../lib/printable.ts';
import { keywordOf, type Keyword } from './schema-keywords.ts';

/** The largest of 240 tools of ten servers in the field has 13,000 characters; far more than that hurts whoever has to read it. */
export const definitionBounds = { chars: 256 * 1024, depth: 100 } as const;

/** Why the value nests too deeply to be read by all who have to; nothing in it is looked at but its nesting. */
export function nestingProblem(value: Json): string | undefined {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > definitionBounds.depth) return `it nests more than ${definitionBounds.depth} levels deep`;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values<Json>(one) : []));
  }
  return undefined;
}

/** Why an inputSchema is not legal MCP (every revision: a JSON Schema with `type: "object"` at its top). */
export function inputProblem(schema: Json | undefined): string | undefined {
  if (schema === undefined) return 'it has no inputSchema';
  if (!isObject(schema)) return 'its inputSchema is no object';
  const { type } = schema;
  if (type === undefined) return 'its inputSchema has no type, and must have type "object"';
  if (type !== 'object') return `its inputSchema has type ${shown(type)} at its top, and must have type "object"`;
  return schemaProblem(schema, 'inputSchema') ?? mirrorProblem(schema);
}

/** A client over HTTP has to refuse such a tool, and the gateway is one towards upstreams and has them in front of it. */
function mirrorProblem(schema: JsonObject): string | undefined {
  const { problem } = mirroredArguments(schema);
  return problem === undefined ? undefined : `its inputSchema ${problem}`;
}

/** Clients compile it when they list, and one that does not compile costs them the list. */
export function outputProblem(schema: Json | undefined): string | undefined {
  if (schema === undefined) return undefined;
  if (!isObject(schema)) return 'its outputSchema is no object';
  return schemaProblem(schema, 'outputSchema');
}

/** What is legal, and makes some clients or model APIs refuse the whole list; only for schemas without a problem. */
export function cautionsOf({ inputSchema, outputSchema }: JsonObject): string[] {
  const found: string[] = [];
  if (isObject(inputSchema)) {
    found.push(...topCautions(inputSchema), ...datedKeywords(inputSchema, 'inputSchema'));
  }
  if (isObject(outputSchema)) {
    if (outputSchema['type'] !== 'object') found.push('its outputSchema is not of type "object", as it had to be until 2025-11-25');
    found.push(...datedKeywords(outputSchema, 'outputSchema'));
  }
  return found;
}

/** Beside `type: "object"` these are refused by several model APIs, at the top only. */
const refusedAtTop = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'];
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;

function topCautions(schema: JsonObject): string[] {
  const atTop = refusedAtTop.filter((keyword) => Object.hasOwn(schema, keyword));
  const properties = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  const odd = properties.find(([name]) => !propertyName.test(name));
  const bare = properties.find(([, property]) => typeof property === 'boolean');
  return [
    ...(atTop.length > 0 ? [`its inputSchema has ${atTop.join(', ')} at its top`] : []),
    ...(odd === undefined ? [] : [`its argument ${shown(odd[0])} is not named with 1 to 64 letters, digits, '.', '_' and '-'`]),
    ...(bare === undefined
      ? []
      : [`its argument ${shown(bare[0])} has ${JSON.stringify(bare[1])} for a schema, where 2025-11-25 has an object`]),
  ];
}

/** One caution at most for a schema: who mends the first will look for the others. */
function datedKeywords(schema: JsonObject, at: string): string[] {
  const dated = firstIn(schema, at, ({ dated }, value, place) => {
    const why = dated?.(value);
    return why === undefined ? undefined : `${place} ${why}`;
  });
  return dated === undefined ? [] : [dated];
}

function schemaProblem(schema: JsonObject, at: string): string | undefined {
  return firstIn(schema, at, ({ problem }, value, place) => {
    const why = problem(value);
    return why === undefined ? undefined : `${place} ${why}`;
  });
}

/** The first thing `look` says of a keyword, in the schema or any inside it. A list instead of recursion: the depth is a stranger's. */
function firstIn(
  root: JsonObject,
  rootPlace: string,
  look: (keyword: Keyword, value: Json, place: string) => string | undefined,
): string | undefined {
  const waiting: (readonly [Json, string])[] = [[root, rootPlace]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [schema, at] = next;
    if (!isObject(schema)) continue;
    for (const [name, value] of Object.entries(schema)) {
      const keyword = keywordOf(name);
      if (keyword === undefined) continue;
      const place = `${at}.${name}`;
      const said = look(keyword, value, place);
      if (said !== undefined) return said;
      for (const [key, inner] of keyword.inside?.(value) ?? []) {
        waiting.push([inner, key === undefined ? place : `${place}.${printable(key).slice(0, 64)}`]);
      }
    }
  }
  return undefined;
}

/** A stranger's value in a sentence of ours: one line, and short. */
function shown(value: Json): string {
  return printable(JSON.stringify(value)).slice(0, 64);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
