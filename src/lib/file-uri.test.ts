import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { isWithin, placeNamed, placeOfUri, uriOf } from './file-uri.ts';

test.each([
  ['file:///', []],
  ['file:///srv', ['srv']],
  ['file:///srv/', ['srv']],
  ['file:///srv//data', ['srv', 'data']],
  ['file://localhost/srv', ['srv']],
  ['file:///a%20b/%C3%A9', ['a b', 'é']],
  ['file:///C%3A/x', ['C:', 'x']],
  ['file:///..a/b...', ['..a', 'b...']],
])('%s is a place', (uri, place) => {
  expect(placeOfUri(uri)).toEqual(place);
});

test.each([
  'file://server/share',
  'file:////server/share',
  'file:/srv',
  'FILE:///srv',
  '/srv',
  'https://a/srv',
  'file:///srv?x',
  'file:///srv#x',
  'file:///srv/.',
  'file:///srv/../etc',
  'file:///srv/%2e%2e/etc',
  'file:///srv/.%2E/etc',
  'file:///srv/%252e%252e/etc',
  'file:///srv/%25252e%25252e',
  'file:///srv/..%2fetc',
  'file:///srv/a%2Fb',
  'file:///srv/a%5cb',
  'file:///srv/..\\etc',
  'file:///srv/a%00',
  'file:///srv/a\nb',
  'file:///srv/%',
  'file:///srv/%c0%ae%c0%ae/etc',
  'file:///srv/\ud800',
  '',
])('%j is none', (uri) => {
  expect(placeOfUri(uri)).toBeUndefined();
});

test('what is longer than any path is none', () => {
  expect(placeOfUri(`file:///${'a'.repeat(5_000)}`)).toBeUndefined();
});

test('people write a place as a path, in which nothing is encoded, or as a URI', () => {
  expect(placeNamed('/srv/100%25')).toEqual(['srv', '100%25']);
  expect(placeNamed('file:///srv/100%25')).toEqual(['srv', '100%']);
  for (const text of ['srv', '/srv/../etc', '//server/share', '/srv/a\\b', 'C:\\x', '~/x'])
    expect(placeNamed(text)).toBeUndefined();
});

test('a place is within another by whole names only', () => {
  expect(isWithin(['srv', 'data'], ['srv'])).toBe(true);
  expect(isWithin(['srv'], ['srv'])).toBe(true);
  expect(isWithin(['srv2'], ['srv'])).toBe(false);
  expect(isWithin([], ['srv'])).toBe(false);
  expect(isWithin(['srv'], [])).toBe(true);
});

test('every place has a URI that leads back to it', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => placeNamed(`/${text}`)?.[0] === text);
  fc.assert(
    fc.property(fc.array(name), (place) => {
      expect(placeOfUri(uriOf(place))).toEqual(place);
    }),
  );
});

test('dots are found however often they are encoded, in one look', () => {
  expect(placeOfUri(`file:///srv/%${'25'.repeat(900)}2e%2e`)).toBeUndefined();
  const startedAt = performance.now();
  for (let times = 0; times < 1_000; times += 1) placeOfUri(`file:///%${'25'.repeat(2_000)}`);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
