import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { uriFault } from './plain-uri.ts';

test.each([
  'file:///etc/passwd',
  'https://example.org/a/b.c/..d/e..',
  'test://template/1/data',
  'urn:isbn:0',
  'file:///wei%C3%9F%20und%2Cgrau',
  'memo:Notes/A',
])('[REL-5] %s has one spelling', (uri) => {
  expect(uriFault(uri)).toBeUndefined();
});

test.each([
  'file:///home/../etc/passwd',
  'file:///home/./x',
  'file:///home/..',
  'file:..',
  'file:///home/%2e%2e/x',
  'file:///home/%2E./x',
  'file:///home/.%2e/x',
  'file:///home%2f..%2Fx',
  'file:///home/%252e%252e/x',
  'file:///home/%25%32%65%252e/x',
  'file:///a\\..\\b',
  'file:///a%5C..%5Cb',
  'file:///a/..;v=1/b',
  'file:///a/..%3Bv/b',
  'file:///a/..%23',
])('[REL-5] %s has a dot segment for somebody', (uri) => {
  expect(uriFault(uri)).toBeDefined();
});

test.each([
  ['FILE:///etc/passwd', 'scheme'],
  ['/etc/passwd', 'scheme'],
  ['', 'scheme'],
  ['file:///%65tc/passwd', "writes 'e' as %65"],
  ['file:///a%7Eb', "writes '~' as %7E"],
  ['file:///a%c3%9f', 'two digits'],
  ['file:///100%', 'two digits'],
  ['file:///a%4', 'two digits'],
])('[REL-5] %s can be written in another way: %s', (uri, why) => {
  expect(uriFault(uri)).toContain(why);
});

test('[REL-5] what passes means the same before and after the URL standard normalises its path', () => {
  const part = fc.constantFrom('.', '..', '%2e', '%2E', '%2f', '/', '\\', 'a', 'b', '%61', '%C3%9F', ';', '%5c', '%25', '2e');
  const steady = fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
    const uri = `https://h/${parts.join('')}`;
    return uriFault(uri) !== undefined || new URL(uri).href === uri;
  });
  expect(() => fc.assert(steady, { numRuns: 2_000 })).not.toThrow();
});

test('[REL-5] octets encoded over and over cost no more than others, and what no capability can name is refused for its length', () => {
  expect(uriFault(`file:///%${'25'.repeat(1_000)}2e%252e/x`)).toContain('segment');
  const endless = `file:///%${'25'.repeat(500_000)}`;
  const startedAt = performance.now();
  expect(uriFault(endless)).toContain('longer than 2048 characters');
  for (let times = 0; times < 1_000; times += 1) uriFault(endless.slice(0, 2_048));
  // Round after round it was 20 ms for each.
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
