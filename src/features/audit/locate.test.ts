import { assert, constantFrom, nat, property, uniqueArray, uuid } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locate } from './locate.ts';

const brief = (actual: (string | undefined)[], expected: (string | undefined)[]): string[] =>
  locate(10, actual, expected, 100).map(({ index, kind }) => `${kind} ${index}`);
const letters = (text: string): string[] => text.split('');

describe('locating', () => {
  it.each([
    ['abcdef', 'abcdef', []],
    ['abXdef', 'abcdef', ['changed 12']],
    ['abdef', 'abcdef', ['deleted 12']],
    ['aef', 'abcdef', ['deleted 11']],
    ['abXYcdef', 'abcdef', ['inserted 12']],
    ['abedcf', 'abcdef', ['swapped 12']],
    ['abc', 'abcdef', ['truncated 13']],
    ['', 'abc', ['truncated 10']],
    ['Xbcdf', 'abcdef', ['changed 10', 'deleted 14']],
    ['bacdfe', 'abcdef', ['swapped 10', 'swapped 14']],
  ])('%s against %s is %j', (actual, expected, problems) => {
    expect(brief(letters(actual), letters(expected))).toEqual(problems);
  });

  it('passes over what cannot be read and what is not known', () => {
    expect(brief(['a', undefined, 'c'], ['a', 'b', 'c'])).toEqual([]);
    expect(brief(['a', 'b', 'c'], ['a', undefined, 'c'])).toEqual([]);
    expect(brief(['a', 'b', 'c', 'd'], ['a', 'b'])).toEqual([]);
  });

  it('[AUD-3] [AUD-4] [AUD-5] names any one change at its place', () => {
    assert(
      property(
        uniqueArray(uuid(), { minLength: 3, maxLength: 60 }),
        nat(),
        nat(),
        constantFrom('changed', 'deleted', 'swapped', 'inserted'),
        (all, a, b, kind) => {
          const at = a % (all.length - 1);
          const other = at + 1 + (b % (all.length - at - 1));
          const actual = {
            changed: all.with(at, 'foreign'),
            deleted: all.toSpliced(at, 1),
            inserted: all.toSpliced(at, 0, 'foreign'),
            swapped: all.with(at, all[other] as string).with(other, all[at] as string),
          }[kind];
          expect(brief(actual, all)).toEqual([`${kind} ${at + 10}`]);
        },
      ),
    );
  });
});
