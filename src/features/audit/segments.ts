// The growing end of the log: frames appended to the last segment, rolled at a bounded size, synced off the event loop.
import type { AppendFile, Files } from '../../kernel/ports.ts';
import { segmentPath } from './scan.ts';

/** Where the next frame goes. */
export interface Position {
  /** Index of the first record of the segment. */
  readonly segment: number;
  readonly offset: number;
}

export interface Segments {
  readonly position: Position;
  /** Appends the frame of record `index`: one synchronous write, whole or `platform.write_failed`. */
  append(index: number, frame: Uint8Array): void;
  /** Everything appended before the call is on stable storage when it resolves. */
  sync(): Promise<void>;
  close(): void;
}

export function createSegments(files: Files, folder: string, start: Position, maxBytes: number): Segments {
  let current: { readonly first: number; readonly file: AppendFile } | undefined;
  // Rolled segments that no sync has seen yet.
  let rolled: AppendFile[] = [];

  const open = (first: number): AppendFile => {
    const file = files.openAppend(segmentPath(folder, first));
    current = { first, file };
    return file;
  };

  return {
    get position() {
      return current ? { segment: current.first, offset: current.file.size } : start;
    },
    append(index, frame) {
      let file = current?.file ?? open(start.segment);
      if (file.size > 0 && file.size + frame.length > maxBytes) {
        const full = file;
        file = open(index);
        rolled.push(full);
      }
      file.append(frame);
    },
    async sync() {
      const finished = rolled;
      rolled = [];
      try {
        for (const file of finished) await file.sync();
        await current?.file.sync();
      } finally {
        for (const file of finished) file.close();
      }
    },
    close() {
      for (const file of rolled) file.close();
      current?.file.close();
    },
  };
}
