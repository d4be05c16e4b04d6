// Newline-delimited JSON framing (MCP stdio transport): bytes in, whole lines out. Knows nothing of what a line says.
// A line is decoded as a whole, so a character split over two chunks is safe; its length is bounded, so a flood is not kept.
import { Buffer } from 'node:buffer';
import { readUtf8 } from './utf8-text.ts';

/** Why a line was thrown away. `oversize` is reported once, when the bound is passed; the rest of that line is skipped. */
export type LineFault = 'oversize' | 'encoding';

export interface LineReader {
  push(chunk: Uint8Array): void;
  /** End of input: a last line without its newline is delivered. */
  end(): void;
}

const newline = 10;
const carriageReturn = 13;
const firstRoom = 64 * 1024;
/** What is kept for the next long line; more than that goes back to the system after a line that needed it. */
const keptRoom = 2 * 1024 * 1024;

/**
 * Calls `onLine` once per line, in order, without its line end (LF or CRLF); empty lines are skipped. A line of more than
 * `maxBytes` bytes, or one that is not UTF-8, is dropped and told to `onFault`; the lines after it are read as usual.
 */
export function createLineReader(options: {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  readonly onFault: (fault: LineFault) => void;
}): LineReader {
  const { maxBytes, onLine, onFault } = options;
  // The beginning of a line that is not over, copied to one place that is used again: an allocation for each long line would be the larger
  // part of what reading it costs.
  let held: Buffer = Buffer.alloc(0);
  let heldBytes = 0;
  let skipping = false;

  function deliver(line: Buffer): void {
    const end = line.length > 0 && line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    if (end === 0) return;
    const text = readUtf8(end === line.length ? line : line.subarray(0, end));
    if (text === undefined) onFault('encoding');
    else onLine(text);
  }

  function hold(part: Buffer): void {
    if (skipping || part.length === 0) return;
    if (heldBytes + part.length > maxBytes) {
      release();
      skipping = true;
      onFault('oversize');
      return;
    }
    if (heldBytes + part.length > held.length) makeRoom(heldBytes + part.length);
    heldBytes += part.copy(held, heldBytes);
  }

  function makeRoom(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(firstRoom, 2 * bytes)));
    held.copy(larger, 0, 0, heldBytes);
    held = larger;
  }

  /** A view, valid until more is held. */
  function release(): Buffer {
    const line = held.subarray(0, heldBytes);
    heldBytes = 0;
    if (held.length > keptRoom) held = Buffer.alloc(0);
    return line;
  }

  function finishLine(part: Buffer): void {
    if (heldBytes === 0 && !skipping && part.length <= maxBytes) {
      deliver(part);
      return;
    }
    hold(part);
    if (skipping) skipping = false;
    else deliver(release());
  }

  return {
    push(chunk) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
        finishLine(bytes.subarray(from, at));
        from = at + 1;
      }
      if (from < bytes.length) hold(bytes.subarray(from));
    },
    end() {
      if (skipping) skipping = false;
      else if (heldBytes > 0) deliver(release());
    },
  };
}
