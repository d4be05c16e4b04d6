import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrayElements, hasDuplicateKeys, objectMembers, skipValue } from './json-text.ts';

const jsonText = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));

describe('places inside a JSON text', () => {
  test('every member of every object is found where JSON.parse sees it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(undefined, 2), (object, indent) => {
        const text = JSON.stringify(object, undefined, indent);
        const found = (objectMembers(text) ?? []).map(({ key, start, end }) => [key, JSON.parse(text.slice(start, end))]);
        expect(found).toEqual(Object.entries(JSON.parse(text) as object));
      }),
    );
  });

  test('every element of every array is found', () => {
    fc.assert(
      fc.property(fc.array(jsonText), (texts) => {
        const text = ` [ ${texts.join(' ,\r\n')} ]`;
        expect((arrayElements(text) ?? []).map(({ start, end }) => text.slice(start, end))).toEqual(texts);
      }),
    );
  });

  test('a value is skipped exactly, whatever stands in its strings', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(skipValue(`${text},"}]`, 0)).toBe(text.length);
      }),
    );
  });

  test('escaped keys are resolved and backslashes before a quote are counted', () => {
    const text = String.raw`{"\u0072esult":"a\\","b\"":"\\\""}`;
    expect(objectMembers(text)?.map(({ key, start, end }) => [key, text.slice(start, end)])).toEqual([
      ['result', String.raw`"a\\"`],
      ['b"', String.raw`"\\\""`],
    ]);
  });

  test.each(['', '[', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{a:1}', '{"a":1 "b":2}', '"x"', '{"a":"}', '7'])(
    'a broken object %j has no members',
    (text) => {
      expect(objectMembers(text)).toBeUndefined();
    },
  );

  test('the same key twice is seen at any depth and through escapes', () => {
    expect(hasDuplicateKeys('{"a":[{"b":1,"c":{"b":2}}],"b":3}')).toBe(false);
    expect(hasDuplicateKeys('{"a":[{"b":1,"b":2}]}')).toBe(true);
    expect(hasDuplicateKeys(String.raw`[[{"name":1,"n\u0061me":2}]]`)).toBe(true);
    expect(hasDuplicateKeys('"a"')).toBe(false);
    expect(hasDuplicateKeys(' [ "a", {"a":"a"}, "a", [{}, {"a" : 1, "b":{}, "\\"":2, "\\\\":{"a":","}}]]')).toBe(false);
    expect(hasDuplicateKeys('{"a":{"b":[1,{"c":2}]},"d":"{\\"a\\":1", "a" :1}')).toBe(true);
    fc.assert(fc.property(jsonText, (text) => !hasDuplicateKeys(text)));
  });
});
