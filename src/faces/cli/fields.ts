// The fields of an input schema as a command line sees them: name, flag, kind of value. Reads the schema's JSON Schema
// form (zod 4, `toJSONSchema`), never zod's insides.
import { z } from 'zod';
import type { ZodType } from 'zod';

/** `map` is a record of texts, given as repeated `--flag KEY=VALUE`. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'list' | 'map' | 'json';

export interface Field {
  readonly name: string;
  /** Without the dashes: `approval_id` and `approvalId` are both `approval-id`. */
  readonly flag: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly defaultText: string | undefined;
  /** `.meta({ format: 'path' })`: a file as the person means it, from where they stand. */
  readonly isPath: boolean;
}

interface Shape {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly anyOf?: readonly Shape[];
}

export function fieldsOf(input: ZodType): Field[] {
  const shape = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Shape;
  const required = new Set(shape.required);
  return Object.entries(shape.properties ?? {}).map(([name, property]) => ({
    name,
    flag: flagOf(name),
    kind: kindOf(property),
    required: required.has(name),
    description: property.description,
    choices: property.enum?.map(String) ?? property.items?.enum?.map(String),
    defaultText: defaultTextOf(property.default),
    isPath: property.format === 'path',
  }));
}

export function flagOf(field: string): string {
  return field
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

function kindOf(shape: Shape): FieldKind {
  const types = (typeof shape.type === 'string' ? [shape.type] : (shape.type ?? [])).filter((type) => type !== 'null');
  // A union that takes a text takes what was typed.
  if (types.includes('string') || shape.enum !== undefined) return 'text';
  if (types.length > 1 || types[0] === undefined) return unionKind(shape.anyOf ?? []);
  switch (types[0]) {
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return shape.items === undefined || kindOf(shape.items) === 'text' ? 'list' : 'json';
    case 'object':
      return typeof shape.additionalProperties === 'object' && kindOf(shape.additionalProperties) === 'text' ? 'map' : 'json';
    default:
      return 'json';
  }
}

function unionKind(members: readonly Shape[]): FieldKind {
  const kinds = new Set(members.filter((member) => member.type !== 'null').map(kindOf));
  if (kinds.has('text')) return 'text';
  return kinds.size === 1 ? ([...kinds][0] ?? 'json') : 'json';
}

function defaultTextOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return value === true ? 'true' : undefined;
}
