import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventReader, encodeEvent, keepAliveEvent } from './sse.ts';

function read(chunks: readonly Uint8Array[], maxLength = 1 << 20): string[] {
  const events: string[] = [];
  const reader = createEventReader({ maxLength, onData: (data) => events.push(data) });
  for (const chunk of chunks) reader.push(chunk);
  return events;
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

test('[DOOR-5] events come back whole and in order however the bytes are cut', () => {
  const text = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .map((raw) => raw.replace(/\r\n?/g, '\n'))
    .filter((raw) => raw.isWellFormed());
  fc.assert(
    fc.property(fc.array(text), cuts, (datas, sizes) => {
      const stream = datas.map((data) => encodeEvent(data) + keepAliveEvent).join('');
      // A data text of nothing but one line break is written as two empty data lines, which is an event too.
      expect(read(cut(Buffer.from(stream), sizes))).toEqual(datas);
    }),
  );
});

test.each(['\n', '\r\n', '\r'])('lines may end in %j, also when the end is cut in two', (end) => {
  const stream = Buffer.from(
    [
      'id: 7',
      'event: message',
      'data: {"a":',
      'data:1}',
      '',
      ': note',
      'data',
      '',
      'event: other',
      'data: x',
      '',
      'data: y',
      '',
      '',
    ].join(end),
  );
  for (const size of [1, 2, 3, 1000]) expect(read(cut(stream, [size]))).toEqual(['{"a":\n1}', 'y']);
});

test('[DOOR-4] an endless event and bytes that are not UTF-8 end the reading', () => {
  expect(() => read([Buffer.from('data: '), ...Array.from({ length: 100 }, () => Buffer.alloc(100, 97))], 1000)).toThrow(
    RangeError,
  );
  expect(() => read([Buffer.from('data: x\n'.repeat(1000))], 1000)).toThrow(RangeError);
  expect(() => read([Buffer.from([0x64, 0xff])])).toThrow(TypeError);
});
