// `inherit:` of a section: the rules and the default_ttl of another one, behind its own. Limits and denies are not inherited: they hold
// for every agent they match anyway, and since a section may only inherit from one about all its agents, nothing is taken over without them.
import type { Place, Section } from './document.ts';
import { closest } from '../../lib/closest.ts';
import { printable } from '../../lib/printable.ts';
import { wildcardCovers } from './wildcard.ts';
import type { YamlText } from './yaml-text.ts';

/** A section as it was read, and the id of the one it inherits from, with its place. */
export interface Heir {
  readonly section: Section;
  readonly from?: string;
  readonly at?: Place;
}

/** Of all sections together. Rules are compared with each other whenever a text is checked. */
const mostInherited = 10_000;

/** The sections with what they inherit, in their order; a wrong `inherit:` is a finding. */
export function inheriting(yaml: YamlText, heirs: readonly Heir[]): readonly Section[] {
  const byId = new Map(heirs.map((heir) => [heir.section.id, heir]));
  const settled = new Map<string, Section>();
  let inherited = 0;

  /** Each step leads to a section about more agents, so that no chain comes back to where it began. */
  function settle(heir: Heir): Section {
    const { section } = heir;
    const known = settled.get(section.id);
    if (known !== undefined) return known;
    const parent = parentOf(heir);
    const whole = parent === undefined ? section : joined(section, settle(parent));
    inherited += whole.inherit?.rules ?? 0;
    settled.set(section.id, whole);
    return whole;
  }

  function parentOf({ section, from, at = section.place }: Heir): Heir | undefined {
    if (from === undefined) return undefined;
    const parent = byId.get(from);
    if (parent === undefined) {
      const near = closest(
        from,
        [...byId.keys()].filter((id) => id !== section.id),
      );
      const hint = near === undefined ? "Name another section, such as '*'." : `Did you mean '${near}'?`;
      return yaml.fail(at, `Section '${section.id}' inherits from '${printable(from)}', which does not exist.`, hint);
    }
    if (parent.section.id !== section.id && wildcardCovers(parent.section.agents, section.id)) return parent;
    return yaml.fail(
      at,
      `Section '${section.id}' cannot inherit from '${from}', which is not about all its agents.`,
      "Inherit from '*', or from a pattern of names that covers this one.",
    );
  }

  const sections: Section[] = [];
  for (const heir of heirs) {
    sections.push(settle(heir));
    if (inherited > mostInherited) {
      yaml.fail(heir.section.place, `More than ${mostInherited} rules are inherited.`, 'Put agents under one pattern of names.');
      break;
    }
  }
  return sections;
}

function joined(section: Section, parent: Section): Section {
  const passed = parent.rules.filter(({ effect }) => effect !== 'deny');
  const defaultTtl = section.defaultTtlMs === undefined && parent.defaultTtlMs !== undefined;
  return {
    ...section,
    defaultTtlMs: section.defaultTtlMs ?? parent.defaultTtlMs,
    rules: [...section.rules, ...passed],
    inherit: { section: parent.id, rules: passed.length, defaultTtl },
  };
}
