import { expect, test } from 'vitest';
import { closest } from './closest.ts';

test.each([
  ['aprove', 'approve'],
  ['appovals', 'approvals'],
  ['aegnt', 'agent'],
  ['up', 'up'],
  ['pu', 'up'],
])('%s is close to %s', (word, meant) => {
  expect(closest(word, ['agent', 'approvals', 'approve', 'audit', 'upstream', 'up'])).toBe(meant);
});

test('a word that resembles nothing has no suggestion', () => {
  expect(closest('frobnicate', ['agent', 'approve'])).toBeUndefined();
  expect(closest('', ['up', 'agent'])).toBeUndefined();
  expect(closest('x', [])).toBeUndefined();
});

test('the nearest of several wins', () => {
  expect(closest('denyy', ['denied', 'deny'])).toBe('deny');
});
