import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

test('the system’s tar unpacks what was packed, at sizes around a block', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sizes = [0, 1, 511, 512, 513, 5_000];
  const parts = sizes.flatMap((size) => [
    tarHeader(`top/${size}.bin`, size, 1_767_225_600_000),
    new Uint8Array(size).fill(size % 251),
    tarPadding(size),
  ]);
  writeFileSync(join(folder, 'a.tar'), Buffer.concat([...parts, tarEnd]));
  execFileSync('tar', ['-xf', 'a.tar'], { cwd: folder });
  for (const size of sizes) {
    expect(readFileSync(join(folder, 'top', `${size}.bin`))).toEqual(Buffer.alloc(size, size % 251));
  }
});

test('a name that does not fit is refused', () => {
  expect(() => tarHeader('x'.repeat(101), 1, 0)).toThrow(RangeError);
  expect(() => tarHeader('é', 1, 0)).toThrow(RangeError);
});
