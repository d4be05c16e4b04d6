// The arguments an inputSchema marks with `x-mcp-header`, to be repeated in `Mcp-Param-*` headers, or the rule a mark breaks (MCP
// 2026-07-28, server/tools, "x-mcp-header"). Knows no value of an argument and no header.

type Value = null | boolean | number | string | readonly Value[] | Schema;
interface Schema {
  readonly [key: string]: Value;
}

export interface MirroredParam {
  /** The whole name of the header, in lower case. */
  readonly header: string;
  /** Property names from the root of the arguments. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

export interface MirroredArguments {
  /** Empty when there is a problem. */
  readonly params: readonly MirroredParam[];
  /** Why clients over HTTP have to refuse the tool, to stand after its inputSchema. */
  readonly problem?: string;
}

export const mirrorMark = 'x-mcp-header';
/** RFC 9110 §5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What stands under these is a value, no schema. */
const dataKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

export function mirroredArguments(inputSchema: Value | undefined): MirroredArguments {
  const params: MirroredParam[] = [];
  // A list instead of recursion: the schema is an upstream's, and so is its depth.
  const waiting: { readonly schema: Value | undefined; readonly path: readonly string[]; readonly reachable: boolean }[] = [
    { schema: inputSchema, path: [], reachable: true },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { schema, path, reachable } = next;
    if (Array.isArray(schema)) {
      for (const one of schema as readonly Value[]) waiting.push({ schema: one, path, reachable: false });
    }
    if (!isSchema(schema)) continue;
    if (Object.hasOwn(schema, mirrorMark)) {
      const param = reachable && path.length > 0 ? paramOf(schema, path) : `marks with ${mirrorMark} what is no argument`;
      if (typeof param === 'string') return { params: [], problem: param };
      if (params.some(({ header }) => header === param.header)) {
        return { params: [], problem: `gives two arguments the same ${mirrorMark}` };
      }
      params.push(param);
    }
    for (const [keyword, inner] of Object.entries(schema)) {
      if (keyword === 'properties' && isSchema(inner)) {
        for (const [name, property] of Object.entries(inner)) waiting.push({ schema: property, path: [...path, name], reachable });
      } else if (!dataKeywords.has(keyword)) waiting.push({ schema: inner, path, reachable: false });
    }
  }
  return { params };
}

function paramOf(schema: Schema, path: readonly string[]): MirroredParam | string {
  const { [mirrorMark]: name, type } = schema;
  if (typeof name !== 'string' || !token.test(name)) return `has an ${mirrorMark} that cannot be part of a header's name`;
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
    return `marks an argument with ${mirrorMark} that is neither string, integer nor boolean`;
  }
  return { header: `mcp-param-${name.toLowerCase()}`, path, type };
}

function isSchema(value: Value | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
