// Which section an agent may have been under before and which after: every pair that some agent's name can make. Names are endless,
// so globs are compared as languages; a pair too many only makes a comparison stricter.
import type { PolicyFile, Section } from './document.ts';
import { comparePrecedence, sectionsFor } from './sections.ts';
import { wildcardCovers, wildcardsMeet } from './wildcard.ts';

export interface SectionPair {
  /** `undefined`: some agent had no section. */
  readonly before: Section | undefined;
  readonly after: Section;
}

export function sectionPairs(before: PolicyFile, after: PolicyFile): readonly SectionPair[] {
  return [...named(before, after), ...patterned(before, after)];
}

const isName = ({ id }: Section): boolean => !id.includes('*');

/** Agents that either file names. */
function named(before: PolicyFile, after: PolicyFile): SectionPair[] {
  const names = new Set([...before.sections, ...after.sections].filter(isName).map(({ id }) => id));
  return [...names].flatMap((name) => {
    const [next] = sectionsFor(after, name);
    return next === undefined ? [] : [{ before: sectionsFor(before, name)[0], after: next }];
  });
}

/** All the others. */
function patterned(before: PolicyFile, after: PolicyFile): SectionPair[] {
  const [olds, nexts] = [before, after].map(({ sections }) => sections.filter((section) => !isName(section))) as [
    Section[],
    Section[],
  ];
  const has = (sections: readonly Section[], id: string): boolean => sections.some((section) => section.id === id);
  // Whoever was under `old` although `next` existed then, or is under `next` although `old` exists now, would contradict precedence.
  const possible = (old: Section, next: Section): boolean =>
    old.id === next.id ||
    (!(has(olds, next.id) && comparePrecedence(next, old) < 0) && !(has(nexts, old.id) && comparePrecedence(old, next) < 0));
  return nexts.flatMap((next) => {
    const pairs: SectionPair[] = olds
      .filter((old) => wildcardsMeet(old.agents, next.agents) && possible(old, next))
      .map((old) => ({ before: old, after: next }));
    const allHadOne = olds.some((old) => wildcardCovers(old.agents, next.id));
    return allHadOne ? pairs : [...pairs, { before: undefined, after: next }];
  });
}
