// The chunked coding of a body (RFC 9112 §7.1), read strictly. Chunk extensions and trailers are read over, as they may be. Knows nothing of
// heads and connections.
import type { Buffer } from 'node:buffer';

export interface ChunkReader {
  /**
   * Hands the data in `bytes` on. Returns how many bytes were used once the body is complete, `undefined` while it is not. Throws a
   * SyntaxError for what is no chunked body.
   */
  push(bytes: Buffer): number | undefined;
}

/** A line of a chunk's size or of a trailer. */
const maxLineBytes = 1_024;
const maxTrailers = 64;
const sizeLine = /^([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t\x20-\x7e]*)?$/;
const trailerLine = /^[!#$%&'*+.^_`|~A-Za-z0-9-]+:[\t\x20-\x7e\x80-\xff]*$/;
const lineFeed = 0x0a;

/** `data` takes the bytes as they come; they are views. What it throws ends the reading. */
export function createChunkReader(data: (bytes: Buffer) => void): ChunkReader {
  let state: 'size' | 'data' | 'end of data' | 'trailers' = 'size';
  let left = 0;
  let held = '';
  let trailers = 0;

  /** The line that ends at `at`, its CRLF left out. */
  function line(bytes: Buffer, from: number, at: number): string {
    const text = held + bytes.toString('latin1', from, at);
    held = '';
    if (!text.endsWith('\r')) throw new SyntaxError('a line of a chunked body does not end in CRLF');
    return text.slice(0, -1);
  }

  /** True when it was the last. */
  function takeLine(text: string): boolean {
    if (state === 'end of data') {
      if (text !== '') throw new SyntaxError('a chunk is longer than it says');
      state = 'size';
    } else if (state === 'size') {
      const size = sizeLine.exec(text)?.[1];
      if (size === undefined) throw new SyntaxError('a chunk has no size');
      left = Number.parseInt(size, 16);
      state = left === 0 ? 'trailers' : 'data';
    } else {
      if (text === '') return true;
      trailers += 1;
      if (trailers > maxTrailers || !trailerLine.test(text)) throw new SyntaxError('a trailer is no header');
    }
    return false;
  }

  return {
    push(bytes) {
      let from = 0;
      while (from < bytes.length) {
        if (state === 'data') {
          const to = Math.min(bytes.length, from + left);
          left -= to - from;
          if (left === 0) state = 'end of data';
          data(bytes.subarray(from, to));
          from = to;
          continue;
        }
        const at = bytes.indexOf(lineFeed, from);
        const end = at === -1 ? bytes.length : at;
        if (held.length + end - from > maxLineBytes) throw new SyntaxError('a line of a chunked body is too long');
        if (at === -1) {
          held += bytes.toString('latin1', from, end);
          return undefined;
        }
        if (takeLine(line(bytes, from, at))) return at + 1;
        from = at + 1;
      }
      return undefined;
    },
  };
}
