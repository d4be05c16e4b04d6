import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFiles } from './files.ts';

const files = createFiles();
let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});
const at = (...parts: string[]): string => join(folder, ...parts);
const mode = (path: string): number => fs.statSync(path).mode & 0o777;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('files', () => {
  it('answers undefined or empty for what is not there, and an error for what cannot be read', async () => {
    expect(await files.readText(at('no'))).toBeUndefined();
    expect(await files.readBytes(at('no', 'deeper'), { offset: 0, length: 4 })).toBeUndefined();
    expect(await files.size(at('no'))).toBeUndefined();
    expect(await files.list(at('no'))).toEqual([]);
    await expect(files.remove(at('no'))).resolves.toBeUndefined();
    await expect(files.readText(folder)).rejects.toMatchObject({ code: 'platform.read_failed', kind: 'unavailable' });
  });

  it('replaces a file in one step, 0600 in a 0700 folder, and leaves no temporary name', async () => {
    await files.writeAtomic(at('a', 'b.txt'), 'one');
    await files.writeAtomic(at('a', 'b.txt'), bytes('two'));
    expect(await files.readText(at('a', 'b.txt'))).toBe('two');
    expect(mode(at('a', 'b.txt'))).toBe(0o600);
    expect(mode(at('a'))).toBe(0o700);
    expect(fs.readdirSync(at('a'))).toEqual(['b.txt']);
  });

  it('keeps the old content and cleans up when a replacement fails', async () => {
    fs.mkdirSync(at('target'));
    fs.writeFileSync(at('target', 'inside'), 'kept');
    await expect(files.writeAtomic(at('target'), 'x')).rejects.toMatchObject({ code: 'platform.write_failed' });
    expect(fs.readdirSync(folder)).toEqual(['target']);
  });

  it('lists sorted names without the leftovers of an interrupted replacement', async () => {
    for (const name of ['b', 'a', '.b.0123456789ab.tmp', '.keep']) fs.writeFileSync(at(name), '');
    expect(await files.list(folder)).toEqual(['.keep', 'a', 'b']);
  });

  it('reads a range, short at the end of the file', async () => {
    fs.writeFileSync(at('r'), 'abcdef');
    expect(new TextDecoder().decode(await files.readBytes(at('r'), { offset: 2, length: 3 }))).toBe('cde');
    expect(new TextDecoder().decode(await files.readBytes(at('r'), { offset: 4, length: 10 }))).toBe('ef');
    expect(await files.readBytes(at('r'), { offset: 9, length: 10 })).toHaveLength(0);
  });

  it('calls back once when a file appears and again when an editor replaces it', async () => {
    let calls = 0;
    const stop = files.watch(at('w.yaml'), () => {
      calls += 1;
    });
    fs.writeFileSync(at('w.yaml'), '1');
    await expect.poll(() => calls).toBe(1);
    await files.writeAtomic(at('w.yaml'), '2');
    await expect.poll(() => calls).toBeGreaterThanOrEqual(2);
    stop();
  });
});

describe('append file', () => {
  it('grows by whole appends, continues after reopening and truncates', async () => {
    const file = files.openAppend(at('log', 'f'));
    file.append(bytes('abc'));
    await file.sync();
    file.close();
    const again = files.openAppend(at('log', 'f'));
    expect(again.size).toBe(3);
    again.append(bytes('def'));
    again.truncate(4);
    again.append(bytes('!'));
    await again.sync();
    again.close();
    expect(fs.readFileSync(at('log', 'f'), 'utf8')).toBe('abcd!');
    expect(mode(at('log', 'f'))).toBe(0o600);
    expect(mode(at('log'))).toBe(0o700);
  });

  it('takes nothing after close, and a close during a sync waits for it', async () => {
    const file = files.openAppend(at('f'));
    file.append(bytes('abc'));
    const syncing = file.sync();
    file.close();
    await syncing;
    expect(() => file.append(bytes('d'))).toThrow(expect.objectContaining({ code: 'platform.write_failed' }));
    await expect(file.sync()).rejects.toMatchObject({ code: 'platform.write_failed' });
  });

  it('says what failed when the disk takes nothing', () => {
    const file = files.openAppend('/dev/full');
    expect(() => file.append(bytes('abc'))).toThrow(
      expect.objectContaining({ code: 'platform.write_failed', data: { path: '/dev/full', errno: 'ENOSPC' } }),
    );
    file.close();
  });

  it('[AUD-12] cuts a partial write back, and goes on when there is room again', () => {
    const code = `
      import { openAppend } from '${new URL('./append-file.ts', import.meta.url).href}';
      const file = openAppend(${JSON.stringify(at('limited'))});
      file.append(new Uint8Array(700));
      let code = '';
      try { file.append(new Uint8Array(700)); } catch (thrown) { code = thrown.code; }
      const size = file.size;
      file.append(new Uint8Array(200));
      console.log(code, size, file.size);`;
    // One block of 1,024 bytes is all that this process may write: the second append gets half of its bytes to the disk.
    const said = execFileSync('bash', ['-c', 'ulimit -f 1; exec "$0" --input-type=module -e "$1"', process.execPath, code], {
      encoding: 'utf8',
    });
    expect(said.trim()).toBe('platform.write_failed 700 900');
    expect(fs.statSync(at('limited')).size).toBe(900);
  });
});
