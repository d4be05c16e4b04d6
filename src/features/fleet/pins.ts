// Sorting out what an upstream offers against what was accepted (DESIGN invariant 12). Pure: no storage, no record, no session.
import type { Definition } from './definition.ts';
import type { PinReview } from './model.ts';

/** An accepted definition. */
export interface Pin {
  readonly tool: string;
  readonly hash: string;
  readonly text: string;
}

export interface SortedOffer {
  /** Offered exactly as accepted: these are served. */
  readonly served: readonly string[];
  /** New, changed or unusable: neither listed nor callable until a person has looked. */
  readonly quarantined: readonly Definition[];
}

/** A name offered twice is unusable, both times: nobody can say which one a call would reach. */
export function withoutDoubles(offered: readonly Definition[]): Definition[] {
  const times = new Map<string, number>();
  for (const { tool } of offered) times.set(tool, (times.get(tool) ?? 0) + 1);
  const single = new Map<string, Definition>();
  for (const definition of offered) {
    const doubled = (times.get(definition.tool) ?? 0) > 1;
    single.set(definition.tool, doubled ? { ...definition, unusable: 'two definitions in the list have its name' } : definition);
  }
  return [...single.values()];
}

export function sortOffer(pins: ReadonlyMap<string, Pin>, offered: readonly Definition[]): SortedOffer {
  const served: string[] = [];
  const quarantined: Definition[] = [];
  for (const definition of offered) {
    if (definition.unusable === undefined && pins.get(definition.tool)?.hash === definition.hash) served.push(definition.tool);
    else quarantined.push(definition);
  }
  return { served, quarantined };
}

/** What a person has to look at: quarantined offers, and accepted tools that are gone. */
export function reviewsOf(
  upstream: string,
  pins: ReadonlyMap<string, Pin>,
  served: ReadonlySet<string>,
  quarantined: ReadonlyMap<string, Definition>,
): PinReview[] {
  const offers = [...quarantined.values()].map(({ tool, hash, text, unusable }): PinReview => {
    const pin = pins.get(tool);
    return {
      upstream,
      tool,
      change: pin === undefined ? 'new' : 'changed',
      ...(pin === undefined ? {} : { acceptedHash: pin.hash, accepted: pin.text }),
      offeredHash: hash,
      offered: text,
      ...(unusable === undefined ? {} : { unusable }),
    };
  });
  const gone = [...pins.values()].filter(({ tool }) => !served.has(tool) && !quarantined.has(tool));
  const removed = gone.map(({ tool, hash, text }): PinReview => ({
    upstream,
    tool,
    change: 'removed',
    acceptedHash: hash,
    accepted: text,
  }));
  return [...offers, ...removed].toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
}
