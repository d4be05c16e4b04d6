import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineReader } from './lines.ts';

function collect(maxBytes = 1 << 20): { lines: string[]; faults: string[]; reader: ReturnType<typeof createLineReader> } {
  const lines: string[] = [];
  const faults: string[] = [];
  const reader = createLineReader({ maxBytes, onLine: (line) => lines.push(line), onFault: (fault) => faults.push(fault) });
  return { lines, faults, reader };
}

const lineText = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => text !== '' && !/[\r\n]/.test(text));

test('[DOOR-11] lines come out whole and in order however the bytes are cut, also inside a character', () => {
  fc.assert(
    fc.property(
      fc.array(lineText, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      (texts, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const { lines, faults, reader } = collect();
        let at = 0;
        for (let turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          reader.push(bytes.subarray(at, at + size));
          at += size;
        }
        reader.end();
        expect(lines).toEqual(texts);
        expect(faults).toEqual([]);
      },
    ),
  );
});

test('CRLF ends a line, empty lines are skipped, and a last line needs no newline', () => {
  const { lines, reader } = collect();
  reader.push(Buffer.from('a\r\n\r\n\nb\nc'));
  expect(lines).toEqual(['a', 'b']);
  reader.end();
  expect(lines).toEqual(['a', 'b', 'c']);
});

test('[DOOR-4] a line over the bound is dropped once, nothing of it is kept, and the next line is read', () => {
  const { lines, faults, reader } = collect(8);
  for (let turn = 0; turn < 1000; turn += 1) reader.push(Buffer.from('xxxx'));
  expect(faults).toEqual(['oversize']);
  reader.push(Buffer.from('yy\n12345678\n123456789\nok\n'));
  expect(lines).toEqual(['12345678', 'ok']);
  expect(faults).toEqual(['oversize', 'oversize']);
});

test('[DOOR-4] bytes that are not UTF-8 are refused instead of replaced', () => {
  const { lines, faults, reader } = collect();
  reader.push(Buffer.from([0x22, 0xff, 0x22, 0x0a, 0x31, 0x0a]));
  expect(faults).toEqual(['encoding']);
  expect(lines).toEqual(['1']);
});
