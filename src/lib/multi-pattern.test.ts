import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMultiPattern } from './multi-pattern.ts';

test('[DECOY-2] whatever the patterns and the text, what is found is what a search for each of them finds', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '€', 'x'), maxLength: 40 });
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 6 }), texts, (patterns, text) => {
      const found = createMultiPattern(patterns).firstIn(text);
      const ends = patterns.flatMap((pattern) => (text.includes(pattern) ? [text.indexOf(pattern) + pattern.length] : []));
      const pattern = found === undefined ? undefined : patterns[found];
      expect(pattern === undefined ? [] : [text.indexOf(pattern) + pattern.length]).toEqual(ends.sort((a, b) => a - b).slice(0, 1));
    }),
  );
});

test('[DECOY-2] a text that nearly matches all the way is passed over once', () => {
  const patterns = Array.from({ length: 64 }, (_, index) => `${'a'.repeat(60)}${index % 10}b${index}`);
  const search = createMultiPattern(patterns);
  const text = 'a'.repeat(4_000_000);
  const startedAt = performance.now();
  expect(search.firstIn(text)).toBeUndefined();
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(search.firstIn(`${text}3b3`)).toBe(3);
  expect(() => createMultiPattern([''])).toThrow(RangeError);
  expect(() => createMultiPattern(['é'])).toThrow(RangeError);
});
