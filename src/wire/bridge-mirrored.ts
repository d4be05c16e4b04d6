// Which arguments the daemon wants repeated in headers: asked of its tool list when it says that some are missing, and kept until it
// says so again. A client over stdio knows nothing of headers.
import type { Json, JsonObject } from '../kernel/json.ts';
import { messageIn } from './bridge-target.ts';
import { encodeRequest, isObject } from './jsonrpc.ts';
import { mirroredParams, type MirroredParam } from './mirrored-params.ts';

export interface BridgeMirror {
  known(tool: Json | undefined): readonly MirroredParam[];
  /** What the tool mirrors by the list of now, asked for in the name of the call; `undefined` when that is nothing. */
  learn(call: JsonObject, signal: AbortSignal): Promise<readonly MirroredParam[] | undefined>;
}

const maxPages = 100;

/** `ask` posts a tools/list and resolves with the body of its answer. */
export function createBridgeMirror(ask: (line: string, params: JsonObject, signal: AbortSignal) => Promise<string>): BridgeMirror {
  let byTool = new Map<string, readonly MirroredParam[]>();
  let asked = 0;

  async function page(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    asked += 1;
    const line = encodeRequest(`sallyport-bridge-list-${asked}`, 'tools/list', JSON.stringify(params));
    const result = messageIn(await ask(line, params, signal))?.['result'];
    return isObject(result) ? result : {};
  }

  return {
    known: (tool) => (typeof tool === 'string' ? byTool.get(tool) : undefined) ?? [],
    async learn({ name, _meta: meta }, signal) {
      const { progressToken: _, ...envelope } = isObject(meta) ? meta : {};
      const found = new Map<string, readonly MirroredParam[]>();
      let cursor: Json | undefined;
      for (let turn = 0; turn < maxPages; turn += 1) {
        const { tools, nextCursor } = await page({ ...(cursor === undefined ? {} : { cursor }), _meta: envelope }, signal);
        for (const tool of Array.isArray(tools) ? (tools as readonly Json[]) : []) {
          const params = isObject(tool) ? mirroredParams(tool['inputSchema']) : [];
          if (isObject(tool) && typeof tool['name'] === 'string' && params.length > 0) found.set(tool['name'], params);
        }
        cursor = nextCursor;
        if (cursor === undefined) break;
      }
      byTool = found;
      return typeof name === 'string' ? found.get(name) : undefined;
    },
  };
}
