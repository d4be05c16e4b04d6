import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createValueSearch } from './value-search.ts';

const mask = '[X]';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const base64 = (text: string, url = false): string => {
  const plain = btoa(String.fromCharCode(...bytes(text)));
  return url ? plain.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') : plain;
};
const hex = (text: string): string => [...bytes(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const escaped = (text: string): string =>
  text.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const quoted = (text: string, depth: number): string => (depth === 0 ? text : JSON.stringify(quoted(text, depth - 1)));

/** What a value may be: long enough, no lone surrogates. */
const value = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{8,60}$/),
  fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 }).filter((text) => text.trim().length >= 8),
  fc.constantFrom('s3cret/Val+ue"x\\y-AZ09', 'line one of it\nline two of it', 'ünïcödé-gehéim', '12345678', 'aaaaaaaaaaaaaaaa'),
);
const around = fc.string({ unit: 'grapheme', maxLength: 12 });

describe('[REDACT-2] a value is found', () => {
  test('as it is and however often it is quoted, and the text stays JSON', () => {
    fc.assert(
      fc.property(value, around, around, fc.integer({ min: 0, max: 3 }), (secret, before, behind, depth) => {
        const text = JSON.stringify({ a: [`${before}${quoted(secret, depth)}${behind}`], b: 1 });
        const masked = createValueSearch([secret], mask).maskJson(text);
        const said = (JSON.parse(masked) as { a: [string] }).a[0];
        expect(said).toContain(mask);
        expect(said).not.toContain(secret);
      }),
    );
  });

  test('with every character of it escaped, in either case of the digits', () => {
    fc.assert(
      fc.property(value, (secret) => {
        const search = createValueSearch([secret], mask);
        for (const spelled of [
          escaped(secret),
          escaped(secret).replaceAll(/u[0-9a-f]{4}/g, (code) => `u${code.slice(1).toUpperCase()}`),
        ]) {
          expect(search.maskJson(`{"a":"x${spelled}y"}`)).toBe(`{"a":"x${mask}y"}`);
          expect(search.maskText(`x${spelled}y`)).toBe(`x${mask}y`);
        }
      }),
    );
  });

  test('with slashes escaped, as some writers of JSON do', () => {
    expect(createValueSearch(['abc/def/ghi'], mask).maskJson('["abc\\/def\\/ghi"]')).toBe(`["${mask}"]`);
  });

  test('in base64 at each alignment, in both alphabets, padded or not, in whatever stands around it', () => {
    fc.assert(
      fc.property(value, fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), fc.boolean(), (secret, before, behind, url) => {
        const said = JSON.stringify([base64(`${before}${secret}${behind}`, url)]);
        const masked = createValueSearch([secret], mask).maskJson(said);
        expect(masked).toContain(mask);
        // Not one of the characters is left that hold bits of it alone.
        const left = masked.replace(mask, '').length - 4;
        expect(left).toBeLessThanOrEqual(Math.ceil((bytes(before).length + bytes(behind).length) * (4 / 3)) + 4);
      }),
    );
  });

  test.each([
    ['hex', hex],
    ['upper-case hex', (text: string) => hex(text).toUpperCase()],
    ['percent encoding', (text: string) => encodeURIComponent(text)],
    ['percent encoding in lower case', (text: string) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['a form', (text: string) => new URLSearchParams({ a: text }).toString().slice(2)],
  ])('in %s', (_, spell) => {
    for (const secret of ['tok en/with+all=of it', 's3cret/Val+ue"x\\y-AZ09', 'ünïcödé-gehéim', 'plain-token-0123']) {
      const search = createValueSearch([secret], mask);
      expect(search.maskText(`a ${spell(secret)} b`)).toBe(`a ${mask} b`);
      expect(search.maskJson(JSON.stringify({ u: `x=${spell(secret)}` }))).toBe(`{"u":"x=${mask}"}`);
    }
  });

  test('among many, where two lie over each other, and where one begins another', () => {
    const search = createValueSearch(['abcdefgh12', 'gh12ijklmn', 'abcdefgh', 'unrelated-one'], mask);
    expect(search.maskText('<abcdefgh12ijklmn> <abcdefghX> unrelated-one')).toBe(`<${mask}> <${mask}X> ${mask}`);
  });

  test('as far as it goes where a long one is cut off', () => {
    const long = 'k'.repeat(20) + 'abcdefghij'.repeat(20);
    expect(createValueSearch([long], mask).maskText(`it begins ${long.slice(0, 100)}… and`)).toBe(`it begins ${mask}… and`);
    expect(createValueSearch([long], mask).maskText(`${long.slice(-7)} ended`, true)).toBe(`${mask} ended`);
    expect(createValueSearch([long], mask).maskText(`${long.slice(-7)} ended`)).toBe(`${long.slice(-7)} ended`);
  });
});

describe('[REDACT-3] a text', () => {
  test('without one comes back as the same bytes, whatever is escaped in it', () => {
    fc.assert(
      fc.property(fc.json(), fc.stringMatching(/^[A-Z]{20}$/), (text, secret) => {
        expect(createValueSearch([secret], mask).maskJson(text)).toBe(text);
        expect(createValueSearch([secret], mask).maskText(text)).toBe(text);
      }),
    );
    const odd = '{"b":1.0,"a":[1e2,"\\u0041\\/\\\\u0042"],"a":2}';
    expect(createValueSearch(['not-in-there'], mask).maskJson(odd)).toBe(odd);
  });

  test('that is JSON stays JSON where a key, a number, a literal or the structure itself is the value', () => {
    const search = createValueSearch(['12345678', 'my-secret-key', '{"k":"vvvvvvvv"}', 'vvvvvvvv'], mask);
    expect(
      search.maskJson('{"12345678":12345678,"n":-912345678.25,"my-secret-key":{"k":"vvvvvvvv"},"t":true,"z":[0,12345678]}'),
    ).toBe(`{"${mask}":"${mask}","n":"${mask}","${mask}":{"${mask}":"${mask}"},"t":true,"z":[0,"${mask}"]}`);
  });

  test('stays JSON wherever a value is planted', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value, fc.nat(), (json, secret, seed) => {
        const text = JSON.stringify({ json, planted: [secret, { [secret]: seed }] });
        const masked = createValueSearch([secret], mask).maskJson(text);
        expect(() => JSON.parse(masked) as unknown).not.toThrow();
        expect(masked).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });

  test('that is made to be slow is not', () => {
    const secrets = ['a'.repeat(2_000) + 'b', 'aaaaaaaab', '"'.repeat(12), '\\u0061'.repeat(3), '1'.repeat(30)];
    const search = createValueSearch(secrets, mask);
    const hostile = [
      'a'.repeat(400_000),
      '\\'.repeat(400_000),
      '"1",'.repeat(100_000),
      '1,'.repeat(200_000),
      '\\u0061'.repeat(70_000),
    ];
    for (const text of hostile) {
      const startedAt = performance.now();
      search.maskText(text);
      search.maskJson(`["${text}"]`);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
  });
});
