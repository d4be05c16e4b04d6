// The progress token of a request whose params are already JSON text (MCP 2025-11-25, basic/utilities/progress).
import { withMeta } from './request-meta.ts';

/** `params` is the JSON text of an object without a token of its own, or `undefined` for none. */
export function withProgressToken(params: string | undefined, token: number): string {
  return withMeta(params, `"progressToken":${token}`);
}
