// The body of one answer on its way to being a text: its pieces are copied to one place that is used again, because they are many, each keeps
// the memory it came in, and joining them at the end would take all of it twice. Knows neither heads nor messages.
import { Buffer } from 'node:buffer';
import { readUtf8 } from '../wire/utf8-text.ts';

export interface BodyText {
  /** Throws a RangeError for what goes beyond the bound. */
  push(chunk: Buffer): void;
  /** Of everything that was pushed, once; `undefined` when it is not UTF-8. */
  end(): string | undefined;
}

const firstRoom = 64 * 1024;
/** What is kept for further answers, in all and in one place: fewer would be garbage again with many answers at a time. */
const maxKeptBytes = 16 * 1024 * 1024;
const maxSpareBytes = 2 * 1024 * 1024;
const spares: Buffer[] = [];
let keptBytes = 0;
const nothing = Buffer.alloc(0);

/** `announced`: how many bytes the other side says there will be, where it says so; a hint and no bound. */
export function createBodyText(maxBytes: number, announced = 0): BodyText {
  /** The first piece, as long as it is all there is: it is not copied. */
  let only: Buffer = nothing;
  let room: Buffer | undefined;
  let length = 0;
  return {
    push(chunk) {
      const needed = length + chunk.length;
      if (needed > maxBytes) throw new RangeError(`a body of more than ${maxBytes} bytes`);
      if (length === 0) only = chunk;
      else {
        if (room === undefined || needed > room.length) room = moved(room ?? only, length, roomFor(needed, maxBytes, announced));
        chunk.copy(room, length);
      }
      length = needed;
    },
    end() {
      const text = readUtf8(room === undefined ? only : room.subarray(0, length));
      if (room !== undefined) keep(room);
      room = undefined;
      only = nothing;
      return text;
    },
  };
}

function roomFor(needed: number, maxBytes: number, announced: number): Buffer {
  const bytes = Math.min(maxBytes, announced >= needed ? announced : 2 * needed);
  const at = spares.findIndex((spare) => spare.length >= bytes);
  const [spare] = at === -1 ? [] : spares.splice(at, 1);
  if (spare === undefined) return Buffer.allocUnsafeSlow(Math.max(firstRoom, bytes));
  keptBytes -= spare.length;
  return spare;
}

function keep(room: Buffer): void {
  if (room.length > maxSpareBytes || keptBytes + room.length > maxKeptBytes) return;
  keptBytes += room.length;
  spares.push(room);
}

function moved(from: Buffer, length: number, to: Buffer): Buffer {
  from.copy(to, 0, 0, length);
  return to;
}
