import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

type Value = Parameters<typeof canonicalJson>[0];

/** RFC 8785 word by word, one value at a time: the reference for every shortcut. */
function byTheBook(value: Value): string {
  if (Array.isArray(value)) return `[${(value as Value[]).map(byTheBook).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return `{${keys.map((key) => `${JSON.stringify(key)}:${byTheBook((value as Record<string, Value>)[key] as Value)}`).join(',')}}`;
}

/** The same value with the members of every object turned round. */
function turned(value: Value): Value {
  if (Array.isArray(value)) return (value as Value[]).map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, turned(member)] as const)
      .toReversed(),
  );
}

test('the examples of RFC 8785, §3.2.2 and §3.2.3', () => {
  const value = JSON.parse(
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  ) as Value;
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  const keys = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
  const members = Object.fromEntries(keys.toReversed().map((key) => [key, 0]));
  expect(canonicalJson(members)).toBe(`{${keys.map((key) => `${JSON.stringify(key)}:0`).join(',')}}`);
});

test('the text depends on the value alone, not on the order in which its members were set', () => {
  const keys = fc.oneof(fc.string({ unit: 'binary' }), fc.nat(200).map(String), fc.constantFrom('', '__proto__', 'toJSON'));
  const { value: values } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false, 0, -0, 1e21, 5e-324),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'binary' }),
      fc.array(tie('value')),
      fc.dictionary(keys, tie('value')),
    ),
  }));
  fc.assert(
    fc.property(values, (value) => {
      const expected = byTheBook(value);
      expect(canonicalJson(value)).toBe(expected);
      expect(canonicalJson(turned(value))).toBe(expected);
      expect(canonicalJson(JSON.parse(expected) as Value)).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

test('members that are undefined are left out, in whatever order they stand', () => {
  const absent = undefined as unknown as Value;
  expect(canonicalJson({ a: absent, b: 1 })).toBe('{"b":1}');
  expect(canonicalJson({ b: { d: 1, c: absent }, a: absent })).toBe('{"b":{"d":1}}');
});

test.each([Number.NaN, Infinity, -Infinity])('%s is refused at every depth', (number) => {
  expect(() => canonicalJson(number)).toThrow(RangeError);
  expect(() => canonicalJson({ a: [{ b: number }] })).toThrow(RangeError);
  expect(() => canonicalJson({ b: 1, a: [number] })).toThrow(RangeError);
});
