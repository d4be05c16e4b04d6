// Every tool that is served, under the name agents see at `/mcp`, and the way back from such a name. Drawn once for each change; a
// look-up is one in a map. Which tools are served is the pins' to say.
import type { Digest } from '../../kernel/ports.ts';
import { listedAs } from './definition.ts';
import type { CatalogTool, ListedTool, Naming, ToolKey } from './model.ts';
import type { PinnedTools } from './pinned-tools.ts';
import { assignNames, fullName, shortName } from './tool-names.ts';

export interface Catalog {
  /** In the order of their names. */
  tools(): readonly ListedTool[];
  /** The tool of a name that is not simply `<upstream>__<tool>`, quarantined ones included. */
  named(name: string): ToolKey | undefined;
  /** What is served or quarantined may have changed. */
  forget(): void;
}

interface Drawing {
  readonly tools: readonly ListedTool[];
  readonly names: ReadonlyMap<string, ToolKey>;
}

export interface CatalogDeps {
  readonly pinned: () => readonly PinnedTools[];
  readonly naming: Naming;
  readonly digest: Digest;
}

export function createCatalog({ pinned, naming, digest }: CatalogDeps): Catalog {
  let drawing: Drawing | undefined;
  /** Texts are as large as the lists of all upstreams, and a change is one of few. */
  const drawn = new WeakMap<CatalogTool, ListedTool>();

  function listed(tool: CatalogTool, name: string): ListedTool {
    const known = drawn.get(tool);
    if (known?.name === name) return known;
    const fresh = { ...tool, name, listed: listedAs(tool.definition, name) };
    drawn.set(tool, fresh);
    return fresh;
  }

  function draw(): Drawing {
    const served = assignNames(
      pinned().flatMap((tools) => tools.served()),
      naming,
      digest,
    );
    // Apart from the served ones: what nobody accepted must not change the name of what somebody did.
    const quarantined = pinned().flatMap((tools) => tools.quarantined());
    const waiting = assignNames(quarantined, naming, digest);
    // It may have been served under its short form for the sake of a neighbour.
    const names = new Map<string, ToolKey>(quarantined.map((tool) => [shortName(tool, naming, digest), tool]));
    for (const [tool, name] of [...waiting, ...served]) if (name !== fullName(tool)) names.set(name, tool);
    for (const [tool, name] of served) if (name === fullName(tool)) names.delete(name);
    const tools = [...served].map(([tool, name]) => listed(tool, name));
    return { tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)), names };
  }

  return {
    tools: () => (drawing ??= draw()).tools,
    named: (name) => (drawing ??= draw()).names.get(name),
    forget() {
      drawing = undefined;
    },
  };
}
