// What? Names to targets and the lists each agent sees: own operations with a tool face and the accepted tools of upstreams.
// What a deny covers is in no list (DESIGN invariant 7).
import { toJSONSchema } from 'zod';
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ToolCall, ToolScope } from '../../kernel/dispatch.ts';
import type { Operation } from '../../kernel/operation.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { CatalogTool } from '../fleet/model.ts';
import type { Policy } from '../policy/policy.ts';

export interface Target {
  readonly upstream: string;
  readonly tool: string;
  readonly capability: string;
}

export interface Listing {
  tools(caller: AgentCaller, scope: ToolScope): readonly string[];
  /** The own operation a name means in its scope. */
  operation(call: Pick<ToolCall, 'name' | 'scope'>): Operation | undefined;
  /** The upstream tool a name means in its scope, whether or not it exists. */
  target(call: Pick<ToolCall, 'name' | 'scope'>): Target | undefined;
}

interface ListingDeps {
  readonly operations: readonly Operation[];
  readonly fleet: Fleet;
  readonly policy: Policy;
}

export function createListing({ operations, fleet, policy }: ListingDeps): Listing {
  const faces = operations.filter((operation) => operation.tool !== undefined);
  const byTool = new Map(faces.map((operation) => [operation.tool?.name, operation]));
  const ownTools = faces.map(toolText);
  const seen = createMemo(fleet, policy);

  const visible = (agent: string, tool: CatalogTool): boolean => {
    const verdict = policy.decide({ agent, capability: tool.capability, annotations: tool.annotations });
    return verdict.effect !== 'deny' || !verdict.hard;
  };

  function draw(agent: string, scope: ToolScope): readonly string[] {
    if (scope.kind === 'toolset') return ownTools;
    const tools = fleet.catalog().filter((tool) => visible(agent, tool));
    if (scope.kind === 'upstream') return tools.filter((tool) => tool.upstream === scope.upstream).map((tool) => tool.definition);
    return [...ownTools, ...tools.map((tool) => tool.listed)];
  }

  return {
    tools: (caller, scope) => seen(caller.agent, scope, draw),
    operation: ({ name, scope }) => (scope.kind === 'upstream' ? undefined : byTool.get(name)),
    target({ name, scope }) {
      if (scope.kind === 'toolset') return undefined;
      const cut = scope.kind === 'upstream' ? -1 : name.indexOf('__');
      if (scope.kind === 'all' && cut < 1) return undefined;
      const upstream = scope.kind === 'upstream' ? scope.upstream : name.slice(0, cut);
      const tool = scope.kind === 'upstream' ? name : name.slice(cut + 2);
      return tool === '' ? undefined : { upstream, tool, capability: `${upstream}:call:${tool}` };
    },
  };
}

/** Lists are drawn once per agent and scope until catalog or policy change. */
function createMemo(fleet: Fleet, policy: Policy) {
  const drawn = new Map<string, readonly string[]>();
  fleet.onCatalogChanged(() => drawn.clear());
  policy.onChanged(() => drawn.clear());
  return (agent: string, scope: ToolScope, draw: (agent: string, scope: ToolScope) => readonly string[]): readonly string[] => {
    const key = `${agent}\n${scope.kind}\n${scope.kind === 'upstream' ? scope.upstream : ''}`;
    let list = drawn.get(key);
    if (list === undefined) {
      list = draw(agent, scope);
      if (drawn.size >= 1_000) drawn.clear();
      drawn.set(key, list);
    }
    return list;
  };
}

/** An own operation as an MCP Tool (schema 2025-11-25), derived from its declaration. */
function toolText(operation: Operation): string {
  const { $schema: _, ...inputSchema } = toJSONSchema(operation.input, { io: 'input' });
  return JSON.stringify({
    name: operation.tool?.name,
    description: operation.description === undefined ? operation.summary : `${operation.summary}\n\n${operation.description}`,
    inputSchema,
    ...(operation.tool?.annotations === undefined ? {} : { annotations: operation.tool.annotations }),
  });
}
