// Which arguments of which listed tool are mirrored into headers. Read out of the definitions once for every list an agent is shown, and
// never for a definition without the annotation; a call costs one look-up.
import type { Json } from '../../kernel/json.ts';
import { mayMirror, mirroredParams, type MirroredParam } from '../../wire/mirrored-params.ts';

export interface MirroredTools {
  /** `tools` is the list the agent sees: the gateway hands out the same array until it changes. */
  of(tools: readonly string[], name: string): readonly MirroredParam[];
}

const none: readonly MirroredParam[] = [];

export function createMirroredTools(): MirroredTools {
  const lists = new WeakMap<readonly string[], ReadonlyMap<string, readonly MirroredParam[]>>();
  return {
    of(tools, name) {
      let known = lists.get(tools);
      if (known === undefined) {
        known = new Map(tools.filter(mayMirror).map(read));
        lists.set(tools, known);
      }
      return known.get(name) ?? none;
    },
  };
}

function read(definition: string): [string, readonly MirroredParam[]] {
  const { name, inputSchema } = JSON.parse(definition) as { readonly name: string; readonly inputSchema: Json };
  return [name, mirroredParams(inputSchema)];
}
