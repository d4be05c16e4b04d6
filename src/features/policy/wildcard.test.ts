import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers, meets, type Pattern } from './capability.ts';
import { wildcard } from './wildcard.ts';

// Brute force over every text up to a length. Patterns use a and b; z is the character no pattern names.
// Inclusion fails at the latest on the inner pattern with z for each star, intersection succeeds at the latest on head, middles and
// tail put together: with patterns of at most 4 characters both are texts of at most 6.
const longest = 6;
const universe: readonly string[] = (() => {
  let layer = [''];
  const all = [''];
  for (let length = 1; length <= longest; length += 1) {
    layer = layer.flatMap((text) => ['a', 'b', 'z'].map((character) => text + character));
    all.push(...layer);
  }
  return all;
})();

/** An oracle of another kind: the engine's own regular expressions. */
const language = (members: readonly string[]): Set<string> => {
  const expressions = members.map((text) => new RegExp(`^${text.replaceAll('*', '[^]*')}$`));
  return new Set(universe.filter((text) => expressions.some((expression) => expression.test(text))));
};

const member = fc.array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 4 }).map((characters) => characters.join(''));
const members = fc.array(member, { minLength: 1, maxLength: 3 });
const request = fc.oneof(
  fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }).map((characters) => characters.join('')),
  fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }).map((characters) => `${characters.join('')}*`),
);

const inResource = (texts: readonly string[]): Pattern => ({
  text: texts.join('|'),
  upstream: [wildcard('u')],
  action: [wildcard('*')],
  resource: texts.map(wildcard),
});

const included = (inner: Set<string>, outer: Set<string>): boolean => [...inner].every((text) => outer.has(text));
const overlap = (one: Set<string>, other: Set<string>): boolean => [...one].some((text) => other.has(text));

describe('the language of one part', () => {
  it('[POL-1] covers exactly when every text of the request is a text of the pattern', () => {
    fc.assert(
      fc.property(members, request, (outer, inner) => {
        expect(covers(inResource(outer), inResource([inner]))).toBe(included(language([inner]), language(outer)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('[POL-1] covers exactly, also between two patterns with alternatives', () => {
    fc.assert(
      fc.property(members, members, (outer, inner) => {
        expect(covers(inResource(outer), inResource(inner))).toBe(included(language(inner), language(outer)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('[POL-1] meets exactly when some text belongs to both', () => {
    fc.assert(
      fc.property(members, members, (one, other) => {
        expect(meets(inResource(one), inResource(other))).toBe(overlap(language(one), language(other)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('[POL-1] covers and meets agree: what is covered is met, and covering is transitive', () => {
    fc.assert(
      fc.property(members, members, members, (one, two, three) => {
        const [a, b, c] = [inResource(one), inResource(two), inResource(three)];
        expect(meets(a, b) || !covers(a, b)).toBe(true);
        expect(covers(a, c) || !covers(a, b) || !covers(b, c)).toBe(true);
        expect(meets(a, b)).toBe(meets(b, a));
      }),
      { numRuns: 500 },
    );
  });

  it('[POL-1] three parts are covered and met part by part, against brute force over whole capabilities', () => {
    const part = fc.constantFrom('a', 'b', '*', 'a*', '*b', 'ab');
    const triple = fc.tuple(part, part, part);
    const short = universe.filter((text) => text.length > 0 && text.length <= 3);
    const set = (texts: readonly string[]) =>
      texts.map((text) => new Set(short.filter((candidate) => language([text]).has(candidate))));
    const build = ([upstream, action, resource]: readonly [string, string, string]): Pattern => ({
      text: '',
      upstream: [wildcard(upstream)],
      action: [wildcard(action)],
      resource: [wildcard(resource)],
    });
    fc.assert(
      fc.property(triple, triple, (one, other) => {
        const [sets, otherSets] = [set(one), set(other)];
        expect(covers(build(one), build(other))).toBe(otherSets.every((inner, at) => included(inner, sets[at] ?? new Set())));
        expect(meets(build(one), build(other))).toBe(sets.every((mine, at) => overlap(mine, otherSets[at] ?? new Set())));
      }),
      { numRuns: 300 },
    );
  });

  it('[POL-1] a hostile text of full length is decided in microseconds against a pattern of many stars', () => {
    const pattern = inResource([`${'*a'.repeat(250)}b`, `*${'a'.repeat(200)}b*`, `${'a*'.repeat(250)}b`]);
    const hostile = inResource(['a'.repeat(511) + 'c']);
    const startedAt = performance.now();
    for (let round = 0; round < 200; round += 1) {
      expect(covers(pattern, hostile)).toBe(false);
      expect(meets(pattern, hostile)).toBe(false);
    }
    // 400 decisions; a backtracking matcher needs longer than the age of the universe for one.
    expect(performance.now() - startedAt).toBeLessThan(400);
  });
});
