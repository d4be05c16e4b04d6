import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { redactCategories } from '../policy/model.ts';
import { redactJson } from './redact.ts';

const all = redactCategories;

test.each([
  ['email', 'mail ada@example.org now', 'mail [REDACTED:email] now'],
  ['phone', 'call +44 20 7946 0958.', 'call [REDACTED:phone].'],
  ['card', 'card 4111 1111 1111 1111!', 'card [REDACTED:card]!'],
  ['aws_access_key', 'id AKIAIOSFODNN7EXAMPLE;', 'id [REDACTED:aws_access_key];'],
] as const)('[RES-1] %s is masked', (category, text, masked) => {
  const { json, counts } = redactJson(JSON.stringify({ content: [{ type: 'text', text }] }), [category]);
  expect(JSON.parse(json)).toEqual({ content: [{ type: 'text', text: masked }] });
  expect(counts).toEqual({ [category]: 1 });
});

test.each([
  ['two in a row', 'ada@example.org,bob@example.org', '[REDACTED:email],[REDACTED:email]'],
  ['at both ends', 'a@b.cd x@y.zz', '[REDACTED:email] [REDACTED:email]'],
  ['one behind a stray @', '@ x@@y a+b@c.example', '@ x@@y [REDACTED:email]'],
  ['an address whose domain runs into the next', 'a@b.cd@e.fg', '[REDACTED:email]@e.fg'],
  ['no address', 'x@ @y user@host @', 'x@ @y user@host @'],
])('[RES-1] addresses: %s', (_, text, masked) => {
  expect(JSON.parse(redactJson(JSON.stringify(text), ['email']).json)).toBe(masked);
});

test('[RES-1] a number that fails the Luhn check is no card', () => {
  const json = JSON.stringify({ text: 'order 4111 1111 1111 1112' });
  expect(redactJson(json, all).json).toBe(json);
});

test('[RES-1] structured content, embedded resources, keys and numbers are searched', () => {
  const result = {
    content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'ada@example.org' } }],
    structuredContent: { owner: { 'ada@example.org': 4111111111111111 } },
  };
  expect(redactJson(JSON.stringify(result), all).json).not.toMatch(/ada@|4111/);
});

test('[RES-1] JSON escaped inside a string is searched as what it says', () => {
  const inner = '{"owner":"ada\\u0040example.org"}';
  const masked = redactJson(JSON.stringify({ content: [{ type: 'text', text: inner }] }), all).json;
  expect(JSON.parse((JSON.parse(masked) as { content: { text: string }[] }).content[0]?.text ?? '')).toEqual({
    owner: '[REDACTED:email]',
  });
});

test('[RES-1] what holds no finding comes back byte for byte', () => {
  const odd = '{"b":1.0,"a":[1e2,"\\u0041"]}';
  expect(redactJson(odd, all).json).toBe(odd);
  expect(redactJson(odd, []).json).toBe(odd);
});

test('[RES-1] a value hidden behind a repeated key does not pass', () => {
  const hidden = '{"content":[{"text":"ada@example.org","text":"fine"}],"n":1.0}';
  expect(redactJson(hidden, all).json).toBe('{"content":[{"text":"fine"}],"n":1}');
  expect(redactJson(hidden, []).json).toBe(hidden);
  const carried = JSON.stringify({ text: '{"a":"ada@example.org","a":1}' });
  expect(redactJson(carried, all).json).not.toContain('ada@');
});

test('[RES-1] an address planted anywhere in any JSON never survives', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.stringMatching(/^[a-z]{1,8}$/), (value, name) => {
      const planted = JSON.stringify({ value, list: [{ deep: `x ${name}@example.org y` }] });
      expect(redactJson(planted, ['email']).json).not.toContain(`${name}@example.org`);
    }),
  );
});

test('[RES-1] a hostile megabyte does not blow up the search', () => {
  const text = `${'a.'.repeat(250_000)}@${'+1 '.repeat(150_000)}${'1'.repeat(100_000)}${'@'.repeat(100_000)}${'@a'.repeat(100_000)}`;
  const hostile = JSON.stringify({ text });
  const startedAt = performance.now();
  redactJson(hostile, all);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
