// Puts a progress token into the `_meta` of request params that are already JSON text. The rest of the text stays as it is.
import type { JsonObject } from '../kernel/json.ts';

/** `params` is the JSON text of an object without a token of its own, or `undefined` for none (MCP 2025-11-25, basic/utilities/progress). */
export function withProgressToken(params: string | undefined, token: number): string {
  const meta = `"_meta":{"progressToken":${token}}`;
  const open = params?.indexOf('{') ?? -1;
  if (params === undefined || open === -1) return `{${meta}}`;
  // Only a text with the key in it, at whatever depth or spelling, needs to be understood.
  if (params.includes('_meta') || params.includes('\\u')) {
    const value = JSON.parse(params) as JsonObject;
    const own = value['_meta'];
    const kept = typeof own === 'object' && own !== null && !Array.isArray(own) ? (own as JsonObject) : {};
    return JSON.stringify({ ...value, _meta: { ...kept, progressToken: token } });
  }
  const rest = params.slice(open + 1);
  return rest.trimStart().startsWith('}') ? `{${meta}${rest}` : `{${meta},${rest}`;
}
