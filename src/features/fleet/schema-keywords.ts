// The keywords of JSON Schema and what may stand under each: what the meta-schema of 2020-12 allows, and what drafts 4 to 7 had instead.
// A table; unknown keywords mean nothing, as the specification has it.
import type { Json, JsonObject } from '../../kernel/json.ts';

export interface Keyword {
  /** Why the value is legal in no draft, to stand after its place. */
  readonly problem: (value: Json) => string | undefined;
  /** Why the value is legal in older drafts only. */
  readonly dated?: (value: Json) => string | undefined;
  /** The schemas inside, each with its key or index; without one where the value is a schema itself. */
  readonly inside?: (value: Json) => readonly (readonly [string | undefined, Json])[];
}

export function keywordOf(name: string): Keyword | undefined {
  return keywords.get(name);
}

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);
const isSchema = (value: Json): boolean => isObject(value) || typeof value === 'boolean';
const isCount = (value: Json): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isNames = (value: Json): boolean =>
  isArray(value) && value.every((name) => typeof name === 'string') && new Set(value).size === value.length;
const isTypeName = (value: Json): boolean => typeof value === 'string' && typeNames.includes(value);
const isType = (value: Json): boolean =>
  isArray(value) ? value.length > 0 && isNames(value) && value.every(isTypeName) : isTypeName(value);

function must(holds: (value: Json) => boolean, otherwise: string): Keyword {
  return { problem: (value) => (holds(value) ? undefined : otherwise) };
}

const entries = (value: Json): readonly (readonly [string, Json])[] =>
  isArray(value) || isObject(value) ? Object.entries<Json>(value) : [];

const schema: Keyword = { ...must(isSchema, 'is no schema'), inside: (value) => [[undefined, value]] };
const schemas: Keyword = {
  ...must((value) => isArray(value) && value.length > 0 && value.every(isSchema), 'is no list of schemas'),
  inside: entries,
};
const named: Keyword = {
  ...must((value) => isObject(value) && Object.values(value).every(isSchema), 'is no object with a schema for each name'),
  inside: entries,
};
/** 2020-12 has `prefixItems` for what was a list here. */
const items: Keyword = {
  ...must((value) => isSchema(value) || (isArray(value) && value.every(isSchema)), 'is neither a schema nor a list of them'),
  dated: (value) => (isArray(value) ? 'is a list, which became prefixItems in 2020-12' : undefined),
  inside: (value) => (isArray(value) ? entries(value) : [[undefined, value]]),
};
const dependencies: Keyword = {
  ...must(
    (value) => isObject(value) && Object.values(value).every((one) => isSchema(one) || isNames(one)),
    'is no object with a schema or a list of names for each name',
  ),
  inside: (value) => entries(value).filter(([, one]) => isSchema(one)),
};
const text = must((value) => typeof value === 'string', 'is no text');
const flag = must((value) => typeof value === 'boolean', 'is neither true nor false');
const number = must((value) => typeof value === 'number', 'is no number');
const count = must(isCount, 'is no whole number from 0 on');
const list = must(isArray, 'is no list');
/** Draft 4 had true or false here. */
const limit: Keyword = {
  ...must((value) => typeof value === 'number' || typeof value === 'boolean', 'is no number'),
  dated: (value) => (typeof value === 'boolean' ? 'is true or false, which became a number in draft 6' : undefined),
};
const names = must(isNames, 'is no list of different names');
const namesByName = must(
  (value) => isObject(value) && Object.values(value).every(isNames),
  'is no object with a list of names for each name',
);
const type = must(isType, `is not one of ${typeNames.join(', ')}, or a list of some of them`);
const divisor = must((value) => typeof value === 'number' && value > 0, 'is no number above 0');

const bearers: readonly (readonly [Keyword, string])[] = [
  [schema, 'additionalItems additionalProperties contains contentSchema else if not propertyNames then'],
  [schema, 'unevaluatedItems unevaluatedProperties'],
  [schemas, 'allOf anyOf oneOf prefixItems'],
  [named, '$defs definitions dependentSchemas patternProperties properties'],
  [items, 'items'],
  [dependencies, 'dependencies'],
  [text, '$anchor $comment $dynamicRef $id $ref $schema contentEncoding contentMediaType description format pattern title'],
  [flag, 'deprecated readOnly uniqueItems writeOnly'],
  [number, 'maximum minimum'],
  [limit, 'exclusiveMaximum exclusiveMinimum'],
  [divisor, 'multipleOf'],
  [count, 'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties'],
  [list, 'enum examples'],
  [names, 'required'],
  [namesByName, 'dependentRequired'],
  [type, 'type'],
];

const keywords: ReadonlyMap<string, Keyword> = new Map(
  bearers.flatMap(([keyword, all]) => all.split(' ').map((name) => [name, keyword] as const)),
);
