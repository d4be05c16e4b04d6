// What differs between two definitions, place by place, for a person to read. Works on parsed JSON and knows nothing of tools.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';

export interface Difference {
  /** A path such as `inputSchema.properties.path.type`. */
  readonly at: string;
  /** JSON text; absent = not there. */
  readonly accepted?: string;
  readonly offered?: string;
}

/** In the order of the accepted definition, then what is new. Both texts are JSON; an absent one is nothing at all. */
export function definitionDiff(accepted: string | undefined, offered: string | undefined): Difference[] {
  return compare('', parse(accepted), parse(offered));
}

function compare(at: string, before: Json | undefined, after: Json | undefined): Difference[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => compare(at === '' ? key : `${at}.${key}`, own(before, key), own(after, key)));
  }
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return [];
  return [
    {
      at,
      ...(before === undefined ? {} : { accepted: JSON.stringify(before) }),
      ...(after === undefined ? {} : { offered: JSON.stringify(after) }),
    },
  ];
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function parse(text: string | undefined): Json | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
