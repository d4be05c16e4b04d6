// Which prompts, resources and templates each agent sees at which endpoint, and what a name or a URI of its means there. What a deny
// covers is in no list and is found by nobody (DESIGN invariant 7). Sends nothing.
import type { AgentCaller } from '../../kernel/caller.ts';
import type { ListName, RelayTarget, ToolScope } from '../../kernel/dispatch.ts';
import { uriFault } from '../../lib/plain-uri.ts';
import { matchesTemplate } from '../../lib/uri-template.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Offer, OfferList } from '../fleet/model.ts';
import type { Policy } from '../policy/policy.ts';
import { createListMemo } from './list-memo.ts';
import { knownRead } from './model.ts';

/** What a target means: an upstream and its own name for it, offered or not. */
export interface OfferTarget {
  readonly upstream: string;
  readonly key: string;
  readonly capability: string;
}

/** What is listed, or stands in a list as a template. */
export type Offered = Extract<RelayTarget, { kind: 'prompt' | 'resource' | 'template' }>;

export interface OfferListing {
  list(caller: Pick<AgentCaller, 'agent'>, scope: ToolScope, list: OfferList): readonly string[];
  target(caller: Pick<AgentCaller, 'agent'>, scope: ToolScope, target: Offered): OfferTarget | undefined;
}

const actions: Readonly<Record<Offered['kind'], 'prompt' | 'read'>> = {
  prompt: 'prompt',
  resource: 'read',
  template: 'read',
};
const kinds: Readonly<Record<OfferList, Offered['kind']>> = {
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'template',
};

/** A template is asked about by its own text, in which what capabilities do not know is percent-encoded. */
export function offerCapability(kind: Offered['kind'], upstream: string, key: string): string {
  const resource = kind === 'template' ? key.replaceAll(/[{}?*[\]!()|^$\\]/g, encodeOctet) : key;
  return `${upstream}:${actions[kind]}:${resource}`;
}

export function createOfferListing({ fleet, policy }: { readonly fleet: Fleet; readonly policy: Policy }): OfferListing {
  const { offers } = fleet;
  const memo = createListMemo();
  fleet.onOffersChanged(() => memo.forget());
  policy.onChanged(() => memo.forget());

  function visible(agent: string, kind: Offered['kind'], { upstream, key }: Pick<Offer, 'upstream' | 'key'>): boolean {
    // Nobody could ever get it.
    if (kind !== 'template' && key.includes('*')) return false;
    if (kind === 'resource' && uriFault(key) !== undefined) return false;
    const verdict = policy.decide({ agent, capability: offerCapability(kind, upstream, key), annotations: knownRead });
    return verdict.effect !== 'deny' || !(verdict.hard || verdict.code === 'invalid_capability');
  }

  function inScope(scope: ToolScope): (offer: Offer) => boolean {
    return ({ upstream }) => scope.kind === 'all' || (scope.kind === 'upstream' && scope.upstream === upstream);
  }

  function seen(agent: string, scope: ToolScope, list: OfferList): readonly Offer[] {
    const all: readonly Offer[] = list === 'prompts' ? offers.prompts() : offers.of(list);
    return all.filter(inScope(scope)).filter((offer) => visible(agent, kinds[list], offer));
  }

  function draw(agent: string, scope: ToolScope, list: OfferList): readonly string[] {
    if (list === 'prompts') {
      const prompts = offers.prompts().filter(inScope(scope));
      const own = prompts.filter((prompt) => visible(agent, 'prompt', prompt));
      return own.map((prompt) => (scope.kind === 'all' ? prompt.listed : prompt.text));
    }
    // A URI that several upstreams list is the first one's.
    const first = new Map<string, string>();
    for (const { key, text } of seen(agent, scope, list)) if (!first.has(key)) first.set(key, text);
    return [...first.values()];
  }

  function promptTarget(agent: string, scope: ToolScope, name: string): Pick<OfferTarget, 'upstream' | 'key'> | undefined {
    if (scope.kind === 'upstream') return { upstream: scope.upstream, key: name };
    if (scope.kind === 'toolset') return undefined;
    const listed = offers.promptNamed(name);
    if (listed !== undefined && visible(agent, 'prompt', listed)) return listed;
    const cut = name.indexOf('__');
    return cut < 1 ? undefined : { upstream: name.slice(0, cut), key: name.slice(cut + 2) };
  }

  /** At `/mcp` it is the first upstream's that lists it, else the first's with a template for it. */
  function resourceUpstream(agent: string, scope: ToolScope, kind: 'resource' | 'template', uri: string): string | undefined {
    if (scope.kind === 'upstream') return scope.upstream;
    const of = (list: Exclude<OfferList, 'prompts'>): readonly Offer[] => seen(agent, scope, list);
    const lists = kind === 'template' ? (['resourceTemplates', 'resources'] as const) : (['resources'] as const);
    const known = lists.flatMap((list) => of(list)).find(({ key }) => key === uri);
    if (known !== undefined || kind === 'template') return known?.upstream;
    const fitting = of('resourceTemplates').find(({ upstream, key }) => {
      return matchesTemplate(key, uri) && visible(agent, 'resource', { upstream, key: uri });
    });
    return fitting?.upstream;
  }

  return {
    list: ({ agent }, scope, list) => memo.of({ agent, scope, list: list satisfies ListName }, () => draw(agent, scope, list)),
    target({ agent }, scope, target) {
      if (target.kind === 'prompt') {
        const found = promptTarget(agent, scope, target.name);
        if (found === undefined || found.key === '') return undefined;
        return { ...found, capability: offerCapability('prompt', found.upstream, found.key) };
      }
      const upstream = resourceUpstream(agent, scope, target.kind, target.uri);
      if (upstream === undefined) return undefined;
      return { upstream, key: target.uri, capability: offerCapability(target.kind, upstream, target.uri) };
    },
  };
}

function encodeOctet(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
