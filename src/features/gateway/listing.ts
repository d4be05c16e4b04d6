// What? Names to targets and the lists each agent sees: own operations with a tool face and the accepted tools of upstreams.
// What a deny covers is in no list (DESIGN invariant 7).
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ToolCall, ToolScope } from '../../kernel/dispatch.ts';
import type { Operation, ToolAnnotations } from '../../kernel/operation.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { usualNaming, type Naming, type ToolKey } from '../fleet/model.ts';
import type { Policy } from '../policy/policy.ts';
import { annotationsOf } from './capability-target.ts';
import { createListMemo } from './list-memo.ts';
import { createOwnTools } from './own-tools.ts';

export interface Target extends ToolKey {
  readonly capability: string;
}

export interface Listing {
  tools(caller: AgentCaller, scope: ToolScope): readonly string[];
  /** The own operation a name means in its scope. */
  operation(call: Pick<ToolCall, 'name' | 'scope'>): Operation | undefined;
  /** The upstream tool a name means to this agent in its scope, whether or not it exists. */
  target(caller: AgentCaller, call: Pick<ToolCall, 'name' | 'scope'>): Target | undefined;
}

interface ListingDeps {
  readonly operations: readonly Operation[];
  readonly fleet: Fleet;
  readonly policy: Policy;
  /** The fleet's; default: plain. */
  readonly naming?: Naming;
}

export function createListing({ operations, fleet, policy, naming = usualNaming }: ListingDeps): Listing {
  const own = createOwnTools(operations, naming);
  const memo = createListMemo();
  fleet.onCatalogChanged(() => memo.forget());
  policy.onChanged(() => memo.forget());

  const visible = (agent: string, capability: string, annotations: ToolAnnotations | undefined): boolean => {
    const verdict = policy.decide({ agent, capability, ...(annotations === undefined ? {} : { annotations }) });
    return verdict.effect !== 'deny' || !verdict.hard;
  };

  /**
   * A short form cannot be tied to a tool that does not exist, so it is not tied to one that a deny covers either: both are decided by
   * what their letters say, and nobody learns which is which.
   */
  function listedTarget(agent: string, name: string): Target | undefined {
    const key = fleet.named(name);
    if (key === undefined) return undefined;
    const target = targetOf(key.upstream, key.tool);
    if (target === undefined) return undefined;
    const { annotations } = annotationsOf(fleet, target.capability);
    return visible(agent, target.capability, annotations) ? target : undefined;
  }

  function draw(agent: string, scope: ToolScope): readonly string[] {
    if (scope.kind === 'toolset') return own.listed;
    const tools = fleet.catalog().filter(({ capability, annotations }) => visible(agent, capability, annotations));
    if (scope.kind === 'upstream') return tools.filter((tool) => tool.upstream === scope.upstream).map((tool) => tool.definition);
    return [...own.listed, ...tools.map((tool) => tool.listed)];
  }

  return {
    tools: ({ agent }, scope) => memo.of({ agent, scope, list: 'tools' }, () => draw(agent, scope)),
    operation: ({ name, scope }) => (scope.kind === 'upstream' ? undefined : own.operation(name)),
    target({ agent }, { name, scope }) {
      if (scope.kind === 'toolset') return undefined;
      if (scope.kind === 'upstream') return targetOf(scope.upstream, name);
      const cut = name.indexOf('__');
      return listedTarget(agent, name) ?? (cut < 1 ? undefined : targetOf(name.slice(0, cut), name.slice(cut + 2)));
    },
  };
}

function targetOf(upstream: string, tool: string): Target | undefined {
  return tool === '' ? undefined : { upstream, tool, capability: `${upstream}:call:${tool}` };
}
