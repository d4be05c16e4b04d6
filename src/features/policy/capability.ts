// The capability language as agents may speak it: `<upstream>:<action>:<resource>`, literal or with a few whole stars (DESIGN §2).
// Alternatives belong to the rules people write, see pattern.ts; text of an agent is never a general pattern.
import { badCapability, checkCharacters, maxPart, maxResource } from './characters.ts';
import { wildcard, wildcardCovers, wildcardsMeet, type Wildcard } from './wildcard.ts';

/** A set of capabilities: each part is any one of its alternatives, independently of the other parts. */
export interface Pattern {
  readonly text: string;
  readonly upstream: readonly Wildcard[];
  readonly action: readonly Wildcard[];
  readonly resource: readonly Wildcard[];
}

export interface Capability extends Pattern {
  /** True when it stands for exactly one thing. */
  readonly literal: boolean;
}

const form = 'Write <upstream>:<action>:<resource>, e.g. github:call:get_issue.';
const upstreamName = /^[a-z0-9](?:_?[a-z0-9-])*_?$/;
const actionName = /^[a-z][a-z0-9_-]*$/;

/**
 * A literal capability, or a request pattern: `*` as the whole upstream or action, one `*` at the end of the resource.
 * Throws `policy.bad_capability` (kind invalid) with a hint for everything else.
 */
export function parseCapability(text: string): Capability {
  checkCharacters(text, 'capability');
  if (text.includes('{') || text.includes('}')) {
    throw badCapability(
      `The capability '${text}' holds alternatives.`,
      'Request each capability on its own; {a,b} is for rules people write.',
    );
  }
  const first = text.indexOf(':');
  const second = text.indexOf(':', first + 1);
  if (first < 0 || second < 0) throw badCapability(`The capability '${text}' has fewer than three parts.`, form);
  const [upstream, action, resource] = [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
  checkPart('upstream', upstream, upstreamName);
  checkPart('action', action, actionName);
  checkResource(resource);
  return {
    text,
    literal: !text.includes('*'),
    upstream: [wildcard(upstream)],
    action: [wildcard(action)],
    resource: [wildcard(resource)],
  };
}

function checkPart(what: 'upstream' | 'action', part: string, name: RegExp): void {
  if (part === '*') return;
  if (part.includes('*')) {
    throw badCapability(`The ${what} '${part}' mixes '*' with other characters.`, `Name the ${what} in full, or write '*' alone.`);
  }
  if (part.length > maxPart) throw badCapability(`The ${what} is longer than ${maxPart} characters.`, form);
  if (!name.test(part)) {
    const rule =
      what === 'upstream'
        ? 'a-z, 0-9, single _ and -, beginning with a letter or digit'
        : 'a-z, 0-9, _ and -, beginning with a letter';
    throw badCapability(`'${part}' is no name of an ${what}.`, `Names are ${rule}.`);
  }
}

function checkResource(resource: string): void {
  if (resource === '') throw badCapability('The resource is empty.', `${form} Write '*' for any resource.`);
  if (resource.length > maxResource && Array.from(resource).length > maxResource) {
    throw badCapability(`The resource is longer than ${maxResource} characters.`, 'Ask for something shorter, or end it in `*`.');
  }
  const star = resource.indexOf('*');
  if (star >= 0 && star !== resource.length - 1) {
    throw badCapability(
      `The resource '${resource}' has a '*' that is not its last character.`,
      "A request may hold one '*' in the resource, at its end.",
    );
  }
}

/** Whether every capability `inner` stands for is one `outer` stands for: inclusion of languages. */
export function covers(outer: Pattern, inner: Pattern): boolean {
  return everyIn(outer.upstream, inner.upstream) && everyIn(outer.action, inner.action) && everyIn(outer.resource, inner.resource);
}

/** Whether some capability belongs to both: non-empty intersection. */
export function meets(one: Pattern, other: Pattern): boolean {
  return someIn(one.upstream, other.upstream) && someIn(one.action, other.action) && someIn(one.resource, other.resource);
}

// One inner alternative lies inside a union only when it lies inside one member of it: the text with an unnamed character for each
// star is in some member, and that member then holds all the others.
const everyIn = (outer: readonly Wildcard[], inner: readonly Wildcard[]): boolean =>
  inner.every(({ text }) => outer.some((member) => wildcardCovers(member, text)));

const someIn = (one: readonly Wildcard[], other: readonly Wildcard[]): boolean =>
  one.some((member) => other.some((counterpart) => wildcardsMeet(member, counterpart)));
