import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNumbered } from './numbered.ts';

test('numbers that go up and are taken in any order are kept as a Map keeps them', () => {
  const step = fc.oneof(fc.record({ skip: fc.integer({ min: 1, max: 200 }) }), fc.record({ take: fc.nat(400) }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const ours = createNumbered<{ readonly of: number }>();
      const map = new Map<number, { readonly of: number }>();
      const taken: [unknown, unknown][] = [];
      let last = 0;
      for (const each of steps) {
        if ('skip' in each) {
          last += each.skip;
          ours.put(last, { of: last });
          map.set(last, { of: last });
        } else {
          taken.push([ours.take(each.take), map.get(each.take)]);
          map.delete(each.take);
        }
        expect(ours.size).toBe(map.size);
      }
      expect(taken.map(([got]) => got)).toEqual(taken.map(([, wanted]) => wanted));
      expect(ours.all().toSorted(([a], [b]) => a - b)).toEqual([...map]);
      for (const number of [0, 0.5, -1, Number.NaN, last + 1, 2 ** 40]) expect(ours.get(number)).toEqual(map.get(number));
    }),
  );
});

test('a number that shares its place with another one is told apart from it, and one with a place of its own moves nobody', () => {
  const ours = createNumbered<{ readonly of: string }>();
  ours.put(5, { of: 'a' });
  expect(ours.hasPlace(5 + 64)).toBe(false);
  expect(ours.get(5 + 64)).toBeUndefined();
  expect(ours.take(5 + 64)).toBeUndefined();
  expect(ours.hasPlace(6)).toBe(true);
  ours.put(5 + 64, { of: 'b' });
  expect([ours.get(5), ours.get(5 + 64)]).toEqual([{ of: 'a' }, { of: 'b' }]);
});

test('what is gone through may be taken on the way', () => {
  const ours = createNumbered<{ readonly of: number }>();
  for (let number = 1; number <= 100; number += 1) ours.put(number, { of: number });
  for (const [number] of ours.all()) ours.take(number);
  expect([ours.size, ours.all()]).toEqual([0, []]);
});
