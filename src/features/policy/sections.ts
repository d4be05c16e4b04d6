// Which sections of a policy speak for an agent: rules come from one, limits and denies from all (DESIGN §2).
import type { PolicyFile, Section } from './document.ts';
import { wildcardCovers } from './wildcard.ts';

/** Order of precedence by the id alone: a name before any glob, a longer glob before a shorter one, `*` last. */
export function comparePrecedence(one: Pick<Section, 'id'>, other: Pick<Section, 'id'>): number {
  const rank = ({ id }: Pick<Section, 'id'>): number => {
    if (id === '*') return 2;
    return id.includes('*') ? 1 : 0;
  };
  return rank(one) - rank(other) || other.id.length - one.id.length || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/** All that match, the one whose rules count first. */
export function sectionsFor({ sections }: PolicyFile, agent: string): readonly Section[] {
  return sections.filter(({ agents }) => wildcardCovers(agents, agent)).toSorted(comparePrecedence);
}
