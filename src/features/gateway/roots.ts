// What of a client's roots an upstream is told: where they lie inside the places the operator named for it. Compares text and looks at no
// disk; what has no single reading is left out.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { isWithin, placeNamed, placeOfUri, uriOf, type Place } from '../../lib/file-uri.ts';

/**
 * The result of roots/list with its roots cut to `allowed`, as sallyport.yaml writes them. A root inside an allowed place stays as it is;
 * one around allowed places becomes those, under its own name; any other is dropped, as is what is no root. No place is told twice.
 */
export function limitRoots(result: JsonObject, allowed: readonly string[]): JsonObject {
  const limits = allowed.map(placeNamed).filter((place) => place !== undefined);
  const asked = result['roots'];
  const roots = Array.isArray(asked) ? (asked as readonly Json[]).flatMap((root) => limitRoot(root, limits)) : [];
  const seen = new Set<Json | undefined>();
  return { ...result, roots: roots.filter(({ uri }) => !seen.has(uri) && seen.add(uri)) };
}

function limitRoot(root: Json, limits: readonly Place[]): readonly JsonObject[] {
  if (!isObject(root) || typeof root['uri'] !== 'string') return [];
  const place = placeOfUri(root['uri']);
  if (place === undefined) return [];
  if (limits.some((limit) => isWithin(place, limit))) return [root];
  const { name } = root;
  const within = limits.filter((limit) => isWithin(limit, place));
  // Only the name: whatever else the client says is about the wider place.
  return within.map((limit) => ({ uri: uriOf(limit), ...(typeof name === 'string' ? { name } : {}) }));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
