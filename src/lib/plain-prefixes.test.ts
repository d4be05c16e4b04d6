// What a URI is a part of.
import { expect, test } from 'vitest';
import { plainPrefixes } from './plain-prefixes.ts';

test('a URI is a part of itself and of everything it goes on from', () => {
  expect(plainPrefixes('a:b/c')).toEqual(['a:b/c', 'a:b/', 'a:b']);
  expect(plainPrefixes('file:///d/e/')).toEqual([
    'file:///d/e/',
    'file:///d/e',
    'file:///d/',
    'file:///d',
    'file:///',
    'file://',
    'file:/',
  ]);
  expect(plainPrefixes('a:b#c')).toEqual(['a:b#c', 'a:b']);
  expect(plainPrefixes('a:b?c')).toEqual(['a:b?c', 'a:b']);
  expect(plainPrefixes('a:b')).toEqual(['a:b']);
  expect(plainPrefixes('')).toEqual(['']);
});

test('a name that merely begins alike is no part, and a scheme is no resource', () => {
  expect(plainPrefixes('a:dirt/x')).not.toContain('a:dir');
  expect(plainPrefixes('a:/x')).not.toContain('a:');
});

test('a URI without end costs a bounded number of looks', () => {
  expect(plainPrefixes(`a:${'/x'.repeat(100_000)}`).length).toBeLessThan(100);
});
