import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, printableDeep, printableJson, printableLines } from './printable.ts';

const hostile = '\u001b[2Jx\u009b31m\u202Egpj.exe\u200B\r\n\u2028\u{E0041}';

test('[CLI-1] an escape sequence, a bidi override and a line break are shown, not obeyed', () => {
  expect(printable(hostile)).toBe('\\u{1b}[2Jx\\u{9b}31m\\u{202e}gpj.exe\\u{200b}\\r\\n\\u{2028}\\u{e0041}');
});

test('ordinary text of any language is left alone', () => {
  const text = 'naïve – 日本語 العربية 🙂 {"a": 1}';
  expect(printable(text)).toBe(text);
});

test('a further line cannot pass for a line of ours', () => {
  expect(printableLines('please\napproved by operator')).toBe('please\n  | approved by operator');
});

test('keys are cleaned as well as values', () => {
  expect(printableDeep({ 'a\u001b': ['\u0007', 1, null, true] })).toEqual({ 'a\\u{1b}': ['\\u{7}', 1, null, true] });
});

test('JSON for a terminal means the same value and holds no raw control character', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const whole = { value, text, hostile };
      const json = printableJson(whole);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(whole)));
      // oxlint-disable-next-line no-control-regex
      expect(json).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/);
    }),
  );
});
