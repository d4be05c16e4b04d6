// Arguments of a tool that are mirrored into `Mcp-Param-*` headers, so that proxies can route without reading bodies (MCP 2026-07-28,
// Streamable HTTP, "Custom Headers from Tool Parameters"): which they are, how they are written, whether headers and body agree.
import type { Json, JsonObject } from '../kernel/json.ts';
import { mirroredArguments, mirrorMark, type MirroredParam } from '../lib/mirrored-arguments.ts';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';
import { isObject } from './jsonrpc.ts';

export type { MirroredParam };

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const decimal = /^-?\d+(?:\.\d+)?$/;

/** Cheap: false for nearly every definition, without reading it. */
export function mayMirror(definition: string): boolean {
  return definition.includes(mirrorMark) || definition.includes('\\u');
}

/** The mirrored arguments of an `inputSchema`; none when a mark breaks a rule, as clients then do not offer the tool at all. */
export function mirroredParams(inputSchema: Json | undefined): readonly MirroredParam[] {
  return mirroredArguments(inputSchema).params;
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
