import { expect, test } from 'vitest';
import { matchesTemplate } from './uri-template.ts';

test.each([
  ['test://template/{id}/data', 'test://template/1/data', true],
  ['test://template/{id}/data', 'test://template//data', false],
  ['test://template/{id}/data', 'test://template/1/2/data', false],
  ['test://template/{id}/data', 'test://template/1/data/more', false],
  ['file:///{+path}', 'file:///a/b/c', true],
  ['file:///{+path}', 'http:///a', false],
  ['a:{x}-{y}', 'a:1-2-3', true],
  ['a:{x}-{y}', 'a:12', false],
  ['a:b{?q}', 'a:b', true],
  ['a:b{/seg}', 'a:b/c', true],
  ['a:{x}b{y}b', 'a:bbbb', true],
  ['a:b', 'a:b', true],
  ['a:{broken', 'a:{broken', true],
  ['', '', true],
])('[REL-6] %s and %s: %s', (template, uri, matches) => {
  expect(matchesTemplate(template, uri)).toBe(matches);
});

test('[REL-6] a template of nothing but variables costs no more than its length', () => {
  const startedAt = performance.now();
  expect(matchesTemplate(`a:${'{+x}'.repeat(400)}!`, `a:${'b'.repeat(500)}`)).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
