// One tool definition as an upstream sent it: its name, the hash of all of it, and the same text under the gateway's name. Decides whether
// a definition can be served at all; whether it may be is a matter of pins.
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Digest } from '../../kernel/ports.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { hasDuplicateKeys, objectMembers } from '../../lib/json-text.ts';
import type { CatalogTool } from './model.ts';
import { cautionsOf, definitionBounds, inputProblem, nestingProblem, outputProblem } from './schema-checks.ts';

export interface Definition {
  readonly tool: string;
  /** Hex SHA-256 over the RFC 8785 form of the whole definition, unknown fields included. */
  readonly hash: string;
  /** The upstream's bytes; of one beyond the bounds the name alone. */
  readonly text: string;
  /** Why it can never be served, for a person. */
  readonly unusable?: string;
}

/** What a literal capability and every MCP client can name (MCP 2025-11-25, server/tools, plus `/` and `:` of older servers). */
const toolName = /^[A-Za-z0-9_.:/-]{1,128}$/;
const longestName = 256;

/** `undefined` when there is not even a name to speak of it by. */
export function readDefinition(text: string, digest: Digest): Definition | undefined {
  const value = JSON.parse(text) as Json;
  if (!isObject(value) || typeof value['name'] !== 'string' || value['name'].length > longestName) return undefined;
  const tool = value['name'];
  const excess = excessOf(text, value);
  if (excess !== undefined) return { tool, hash: hashOf(text), text: JSON.stringify({ name: tool }), unusable: excess };
  const unusable = problemOf(text, value, tool);
  if (unusable !== undefined) return { tool, hash: hashOf(text), text, unusable };
  return { tool, hash: hashOf(canonicalJson(value)), text };

  function hashOf(whole: string): string {
    return hex(digest.sha256(whole));
  }
}

/** Nobody can read it, and what would compare or show it must not have to. */
function excessOf(text: string, value: Json): string | undefined {
  if (text.length > definitionBounds.chars)
    return `it has ${text.length} characters, and more than ${definitionBounds.chars} are too many`;
  return nestingProblem(value);
}

function problemOf(text: string, value: JsonObject, name: string): string | undefined {
  if (!toolName.test(name)) return 'its name has characters that no capability can name';
  const { inputSchema, outputSchema, annotations } = value;
  const problem = inputProblem(inputSchema) ?? outputProblem(outputSchema);
  if (problem !== undefined) return problem;
  if (annotations !== undefined && !isObject(annotations)) return 'its annotations are no object';
  if (!text.isWellFormed()) return 'it holds half of a surrogate pair';
  if (hasDuplicateKeys(text)) return 'a key appears twice in it, so two readers could see two definitions';
  return undefined;
}

/** Only for usable definitions. */
export function catalogTool(upstream: string, { tool, hash, text }: Pick<Definition, 'tool' | 'hash' | 'text'>): CatalogTool {
  const value = JSON.parse(text) as JsonObject;
  const warnings = cautionsOf(value);
  return {
    upstream,
    tool,
    capability: `${upstream}:call:${tool}`,
    definition: text,
    hash,
    annotations: annotationsOf(value),
    warnings,
  };
}

/** A usable definition, of a tool or a prompt, under another name; every other byte unchanged. */
export function listedAs(text: string, name: string): string {
  const span = objectMembers(text)?.find(({ key }) => key === 'name');
  return span === undefined ? text : `${text.slice(0, span.start)}${JSON.stringify(name)}${text.slice(span.end)}`;
}

function annotationsOf({ annotations }: JsonObject): ToolAnnotations {
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = isObject(annotations) ? annotations : {};
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof readOnlyHint === 'boolean' && { readOnlyHint }),
    ...(typeof destructiveHint === 'boolean' && { destructiveHint }),
    ...(typeof idempotentHint === 'boolean' && { idempotentHint }),
    ...(typeof openWorldHint === 'boolean' && { openWorldHint }),
  };
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
