import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyText } from './http-body-text.ts';

const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => Buffer.from(bytes.subarray(at[index], end)));
};

test('a body is the text it is wherever it was cut, whatever its length was said to be, and beside others that are read at the same time', () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 }).map((part) => part.toWellFormed().repeat(700));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.array(fc.nat(), { maxLength: 5 }), fc.nat(10)), { maxLength: 6 }), (bodies) => {
      const reading = bodies.map(([said, cuts, more]) => {
        const bytes = Buffer.from(said);
        const body = createBodyText(bytes.length, more === 0 ? 0 : bytes.length + more - 5);
        return { said, body, pieces: cutAt(bytes, cuts) };
      });
      for (let turn = 0; turn < 6; turn += 1)
        for (const { body, pieces } of reading) for (const piece of pieces.slice(turn, turn + 1)) body.push(piece);
      for (const { said, body } of reading) expect(body.end()).toBe(said);
    }),
    { numRuns: 60 },
  );
});

test('what is no UTF-8 is no text, and nothing of the answer before shows in a shorter one', () => {
  const long = createBodyText(1_000_000);
  for (const piece of ['secret '.repeat(20_000), 'end']) long.push(Buffer.from(piece));
  expect(long.end()).toHaveLength(140_003);
  const short = createBodyText(1_000_000);
  for (const piece of ['{', '}']) short.push(Buffer.from(piece));
  expect(short.end()).toBe('{}');
  for (const pieces of [[[0xc3]], [[0x22, 0xc3], [0x28]], [[0xed, 0xa0], [0x80]]]) {
    const body = createBodyText(100);
    for (const piece of pieces) body.push(Buffer.from(piece));
    expect(body.end()).toBeUndefined();
  }
  expect(createBodyText(100).end()).toBe('');
});

test('a body beyond its bound is refused with the piece that goes beyond it, whatever was announced', () => {
  const body = createBodyText(10, 5);
  body.push(Buffer.from('12345'));
  body.push(Buffer.from('67890'));
  expect(() => body.push(Buffer.from('1'))).toThrow(RangeError);
});
