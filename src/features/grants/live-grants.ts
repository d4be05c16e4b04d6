// The grants that live, arranged so that a call finds its own without looking at the others. Memory only; knows no database.
import type { Grant } from './model.ts';

/** Whether every capability `inner` stands for is one `outer` stands for (policy slice). */
export type Covers = (outer: string, inner: string) => boolean;

export type Suits = (grant: Grant) => boolean;

export interface LiveGrants {
  add(grant: Grant): void;
  /** Of those that cover the capability, the one that lives longest. */
  covering(agent: string, capability: string, need: 'any' | 'human', now: number, suits?: Suits): Grant | undefined;
  /** Oldest first; of every agent when none is named. */
  list(agent: string | undefined, now: number): Grant[];
  dropAgent(agent: string): void;
  dropExpired(now: number): void;
}

/** One agent's grants: by their own text, and those with a star also by `<upstream>:<action>`. */
interface Shelf {
  readonly exact: Map<string, Grant[]>;
  readonly patterns: Map<string, Grant[]>;
}

export function createLiveGrants(covers: Covers): LiveGrants {
  const shelves = new Map<string, Shelf>();

  return {
    add(grant) {
      const shelf = shelves.get(grant.agent) ?? { exact: new Map(), patterns: new Map() };
      shelves.set(grant.agent, shelf);
      put(shelf.exact, grant.capability, grant);
      if (grant.capability.includes('*')) put(shelf.patterns, placeOf(grant.capability).join(':'), grant);
    },

    covering(agent, capability, need, now, suits = () => true) {
      const shelf = shelves.get(agent);
      if (shelf === undefined) return undefined;
      const fits = (grant: Grant): boolean => grant.expiresAt > now && (need === 'any' || grant.origin === 'human') && suits(grant);
      const same = longest(shelf.exact.get(capability)?.filter(fits));
      if (same !== undefined || shelf.patterns.size === 0) return same;
      const wider = placesThatMayCover(capability).flatMap((place) => shelf.patterns.get(place) ?? []);
      return longest(wider.filter((grant) => fits(grant) && covers(grant.capability, capability)));
    },

    list(agent, now) {
      const chosen = agent === undefined ? [...shelves.values()] : [shelves.get(agent)];
      return chosen
        .flatMap((shelf) => [...(shelf?.exact.values() ?? [])].flat())
        .filter(({ expiresAt }) => expiresAt > now)
        .sort((one, other) => one.grantedAt - other.grantedAt);
    },

    dropAgent(agent) {
      shelves.delete(agent);
    },

    dropExpired(now) {
      for (const [agent, { exact, patterns }] of shelves) {
        for (const lists of [exact, patterns]) keepLive(lists, now);
        if (exact.size === 0) shelves.delete(agent);
      }
    },
  };
}

function keepLive(lists: Map<string, Grant[]>, now: number): void {
  for (const [key, grants] of lists) {
    const live = grants.filter(({ expiresAt }) => expiresAt > now);
    if (live.length === 0) lists.delete(key);
    else lists.set(key, live);
  }
}

function put(lists: Map<string, Grant[]>, key: string, grant: Grant): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [grant]);
  else list.push(grant);
}

function longest(grants: readonly Grant[] | undefined): Grant | undefined {
  return grants?.reduce<Grant | undefined>((best, grant) => (best && best.expiresAt >= grant.expiresAt ? best : grant), undefined);
}

/** Upstream and action; one that is not a plain name may be any. */
function placeOf(capability: string): [upstream: string, action: string] {
  const [upstream = '', action = ''] = capability.split(':', 2);
  const plain = (part: string): string => (part.includes('*') ? '*' : part);
  return [plain(upstream), plain(action)];
}

function placesThatMayCover(capability: string): string[] {
  const [upstream, action] = placeOf(capability);
  return [...new Set([`${upstream}:${action}`, `${upstream}:*`, `*:${action}`, '*:*'])];
}
