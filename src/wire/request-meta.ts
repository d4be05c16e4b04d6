// Puts members into the `_meta` of params that are already JSON text, and takes them out. The rest of the text stays as it is.
import type { Json, JsonObject } from '../kernel/json.ts';
import { objectMembers } from '../lib/json-text.ts';

/** `params` is the JSON text of an object, or `undefined` for none; `members` is the text between the braces of another, and wins. */
export function withMeta(params: string | undefined, members: string): string {
  const meta = `"_meta":{${members}}`;
  const open = params?.indexOf('{') ?? -1;
  if (params === undefined || open === -1) return `{${meta}}`;
  // Only a text with the key in it, at whatever depth or spelling, needs to be understood.
  if (params.includes('_meta') || params.includes('\\u')) {
    const value = JSON.parse(params) as JsonObject;
    return JSON.stringify({ ...value, _meta: { ...ownMeta(value['_meta']), ...(JSON.parse(`{${members}}`) as JsonObject) } });
  }
  const rest = params.slice(open + 1);
  return rest.trimStart().startsWith('}') ? `{${meta}${rest}` : `{${meta},${rest}`;
}

function ownMeta(meta: Json | undefined): JsonObject {
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as JsonObject) : {};
}

/** The same text without this member of its `_meta`. `params` is the JSON text of an object. */
export function withoutMeta(params: string, key: string): string {
  const meta = objectMembers(params)?.find((member) => member.key === '_meta');
  const members = meta === undefined ? [] : (objectMembers(params, meta.start) ?? []);
  if (meta === undefined || !members.some((member) => member.key === key)) return params;
  const kept = members.filter((member) => member.key !== key);
  const texts = kept.map((member) => `${JSON.stringify(member.key)}:${params.slice(member.start, member.end)}`);
  return `${params.slice(0, meta.start)}{${texts.join(',')}}${params.slice(meta.end)}`;
}
