// Arguments of a tool that are mirrored into `Mcp-Param-*` headers, so that proxies can route without reading bodies (MCP 2026-07-28,
// Streamable HTTP, "Custom Headers from Tool Parameters"): which they are, how they are written, whether headers and body agree.
import type { Json, JsonObject } from '../kernel/json.ts';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';
import { isObject } from './jsonrpc.ts';

export interface MirroredParam {
  /** The whole name of the header, in lower case. */
  readonly header: string;
  /** Property names from the root of the arguments. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const annotation = 'x-mcp-header';
/** RFC 9110 §5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const decimal = /^-?\d+(?:\.\d+)?$/;

/** Cheap: false for nearly every definition, without reading it. */
export function mayMirror(definition: string): boolean {
  return definition.includes(annotation) || definition.includes('\\u');
}

/** The mirrored arguments of an `inputSchema`; none when one annotation breaks a rule, as clients then do not offer the tool at all. */
export function mirroredParams(inputSchema: Json | undefined): readonly MirroredParam[] {
  const found: MirroredParam[] = [];
  // A list instead of recursion: the schema is an upstream's, and so is its depth.
  const waiting: { readonly schema: Json | undefined; readonly path: readonly string[]; readonly reachable: boolean }[] = [
    { schema: inputSchema, path: [], reachable: true },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { schema, path, reachable } = next;
    if (Array.isArray(schema)) {
      for (const one of schema as readonly Json[]) waiting.push({ schema: one, path, reachable: false });
    }
    if (!isObject(schema)) continue;
    if (Object.hasOwn(schema, annotation)) {
      const param = reachable && path.length > 0 ? paramOf(schema, path) : undefined;
      if (param === undefined || found.some(({ header }) => header === param.header)) return [];
      found.push(param);
    }
    for (const [keyword, inner] of Object.entries(schema)) {
      if (keyword === 'properties' && isObject(inner)) {
        for (const [name, property] of Object.entries(inner)) waiting.push({ schema: property, path: [...path, name], reachable });
      } else if (!dataKeywords.has(keyword)) waiting.push({ schema: inner, path, reachable: false });
    }
  }
  return found;
}

/** What stands under these is a value, no schema. */
const dataKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

function paramOf(schema: JsonObject, path: readonly string[]): MirroredParam | undefined {
  const { [annotation]: name, type } = schema;
  if (typeof name !== 'string' || !token.test(name)) return undefined;
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') return undefined;
  return { header: `mcp-param-${name.toLowerCase()}`, path, type };
}

/** The headers that go with these arguments. */
export function paramHeaders(params: readonly MirroredParam[], args: JsonObject | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of params) {
    const text = textOf(valueAt(args, path));
    if (text !== undefined) headers[header] = encodeHeaderValue(text);
  }
  return headers;
}

/** Where headers and arguments disagree, for their sender; `undefined` when they agree. */
export function paramMismatch(
  params: readonly MirroredParam[],
  args: JsonObject | undefined,
  headers: Headers,
): string | undefined {
  for (const { header, path, type } of params) {
    const value = valueAt(args, path);
    const text = textOf(value);
    const sent = headers[header];
    if (sent === undefined && text === undefined) continue;
    const where = `argument '${path.join('.').slice(0, 128)}'`;
    if (sent === undefined) return `The header ${header} is missing, but the body has a value for the ${where}.`;
    if (text === undefined) return `The header ${header} is there, but the body has no such value for the ${where}.`;
    const decoded = typeof sent === 'string' ? decodeHeaderValue(sent) : undefined;
    if (decoded === undefined) return `The header ${header} holds characters or base64 that it may not hold.`;
    const equal =
      type === 'integer' && typeof value === 'number' && decimal.test(decoded) ? Number(decoded) === value : decoded === text;
    if (!equal) return `The header ${header} and the ${where} of the body are not the same.`;
  }
  return undefined;
}

function valueAt(args: JsonObject | undefined, path: readonly string[]): Json | undefined {
  let value: Json | undefined = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Only scalars can stand in a header; null is mirrored by no header. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
