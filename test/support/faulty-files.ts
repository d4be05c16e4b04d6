// The real Files port on a disk that counts, and that can be told to be full or to fail its syncs.
import { AppError } from '../../src/kernel/errors.ts';
import type { Files } from '../../src/kernel/ports.ts';
import { createFiles } from '../../src/platform/files.ts';

export interface FaultyFiles extends Files {
  /** While true every write fails with ENOSPC and changes nothing. */
  full: boolean;
  /** While true fdatasync fails with EIO. */
  deaf: boolean;
  /** Appends and fdatasyncs that succeeded. */
  writes: number;
  syncs: number;
}

function failure(path: string, errno: string): AppError {
  return new AppError('unavailable', 'platform.write_failed', `cannot append to ${path}: ${errno}`, { data: { path, errno } });
}

export function createFaultyFiles(): FaultyFiles {
  const real = createFiles();
  const faulty: FaultyFiles = {
    ...real,
    full: false,
    deaf: false,
    writes: 0,
    syncs: 0,
    async writeAtomic(path, data) {
      if (faulty.full) throw failure(path, 'ENOSPC');
      await real.writeAtomic(path, data);
    },
    openAppend(path) {
      const file = real.openAppend(path);
      return {
        get size() {
          return file.size;
        },
        append(bytes) {
          if (faulty.full) throw failure(path, 'ENOSPC');
          file.append(bytes);
          faulty.writes += 1;
        },
        async sync() {
          if (faulty.deaf) throw failure(path, 'EIO');
          await file.sync();
          faulty.syncs += 1;
        },
        truncate: (size) => file.truncate(size),
        close: () => file.close(),
      };
    },
  };
  return faulty;
}
