import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppError } from '../kernel/errors.ts';
import type { ChildSpec } from '../kernel/ports.ts';
import { familyOf, processSpace, processTable, startTimeOf } from './process-table.ts';
import { createSpawner, type OwnedSpawner } from './process.ts';

const node = process.execPath;
const path = process.env['PATH'] ?? '';
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const sleeper = [node, '-e', 'setInterval(() => {}, 60000)'];
const deaf = [node, '-e', "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 60000)"];

let folder: string;
let spawner: OwnedSpawner;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-process-'));
  spawner = await createSpawner({ runFolder: folder, log: silent, maxLineBytes: 1_000 });
});
afterAll(async () => {
  await spawner.close();
  rmSync(folder, { recursive: true, force: true });
});

const spec = ([command = '', ...args]: readonly string[], more: Partial<ChildSpec> = {}): ChildSpec => ({
  command,
  args,
  env: { PATH: path },
  ...more,
});

async function until(what: () => boolean, ms = 5_000): Promise<void> {
  const end = performance.now() + ms;
  while (!what()) {
    if (performance.now() > end) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Shells fork in passing: the same `count` processes twice in a row are the ones that stay. */
async function settled(look: () => number[], count: number): Promise<number[]> {
  let last = '';
  await until(() => {
    const before = last;
    last = look().join(' ');
    return look().length === count && last === before;
  });
  return look();
}

const alive = (pid: number): boolean => startTimeOf(pid) !== undefined;
const family = (pid: number): number[] => familyOf(pid, processTable()).map((row) => row.pid);

describe('a child', () => {
  test('gets lines and gives lines, whole and in order, and what it wrote before its end comes before its end', async () => {
    const child = await spawner.spawn(
      spec([node, '-e', "process.stdin.on('data', (d) => process.stdout.write('got ' + d + 'last', () => process.exit(4)))"]),
    );
    const seen: string[] = [];
    child.onLine((line) => seen.push(line));
    child.writeLine('hello');
    expect(await child.exited).toEqual({ code: 4, signal: null });
    expect(seen).toEqual(['got hello', 'last']);
  });

  test('gets all lines of a turn, in order, also when its input is closed in the same turn', async () => {
    const child = await spawner.spawn(spec(['cat']));
    const seen: string[] = [];
    child.onLine((line) => seen.push(line));
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    for (const line of lines.slice(0, 250)) child.writeLine(line);
    await Promise.resolve();
    for (const line of lines.slice(250)) child.writeLine(line);
    await child.stop(2_000);
    expect(seen).toEqual(lines);
  });

  test('[FLEET-4] stderr is drained even when nobody listens', async () => {
    const child = await spawner.spawn(spec([node, '-e', "process.stderr.write('x'.repeat(5_000_000), () => process.exit(0))"]));
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  test('a line beyond the bound is reported, not kept', async () => {
    const child = await spawner.spawn(spec([node, '-e', "process.stdout.write('y'.repeat(100_000) + '\\nshort\\n')"]));
    const seen: string[] = [];
    child.onFault((fault) => seen.push(fault));
    child.onLine((line) => seen.push(line));
    await child.exited;
    expect(seen).toEqual(['oversize', 'short']);
  });

  test('that does not read its input is not fed without end, and a closed one is told apart', async () => {
    const child = await spawner.spawn(spec(sleeper));
    const megabyte = 'z'.repeat(1024 * 1024);
    const feed = (): void => {
      for (let times = 0; times < 100; times += 1) child.writeLine(megabyte);
    };
    expect(feed).toThrow(expect.objectContaining({ code: 'process.backed_up' }) as Error);
    await child.stop(0);
    expect(() => child.writeLine('late')).toThrow(expect.objectContaining({ code: 'process.closed' }) as Error);
  });

  test.each([
    ['a missing program', spec(['no-such-program-here']), 'not on the PATH'],
    ['a missing file', spec(['/nowhere/tool']), 'absolute path'],
    ['a folder', spec(['/tmp']), 'absolute path'],
    ['a missing working directory', spec(sleeper, { cwd: '/nowhere/at/all' }), 'change cwd'],
    ['a program on a relative PATH entry', spec(['sh'], { env: { PATH: 'bin:.' } }), 'not on the PATH'],
  ])('[FLEET-10] %s is an error that says what to do', async (_what, wrong, hint) => {
    const error = await spawner.spawn(wrong).catch((thrown: AppError) => thrown);
    expect(error).toMatchObject({
      kind: 'unavailable',
      code: 'process.spawn_failed',
      hint: expect.stringContaining(hint) as string,
    });
  });

  test('[FLEET-6] gets the environment it is given and nothing else', async () => {
    const child = await spawner.spawn(
      spec([node, '-e', 'console.log(JSON.stringify(process.env))'], { env: { PATH: path, ONE: '1' } }),
    );
    const seen: string[] = [];
    child.onLine((line) => seen.push(line));
    await child.exited;
    expect(JSON.parse(seen.join(''))).toEqual({ PATH: path, ONE: '1' });
  });
});

describe('[FLEET-5] the end of a child', () => {
  test('is polite first: closing its input suffices for one that listens', async () => {
    const child = await spawner.spawn(spec([node, '-e', "process.stdin.resume().on('end', () => { process.exitCode = 11 })"]));
    await child.stop(5_000);
    expect(await child.exited).toEqual({ code: 11, signal: null });
  });

  test('is SIGTERM next', async () => {
    const child = await spawner.spawn(spec(sleeper));
    await child.stop(2_000);
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('is SIGKILL for one that ignores SIGTERM, within the grace', async () => {
    const child = await spawner.spawn(spec(deaf));
    await new Promise<void>((resolve) => child.onLine(() => resolve()));
    const startedAt = performance.now();
    await child.stop(400);
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(performance.now() - startedAt).toBeGreaterThan(390);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('takes grandchildren along, also in groups and sessions of their own', async () => {
    const script = `bash -c "set -m; ${sleeper.join(' ').replace('setInterval(() => {}, 60000)', "'setInterval(() => {}, 60000)'")} & wait" & setsid ${deaf.map((word) => `"${word}"`).join(' ')} & wait`;
    const child = await spawner.spawn(spec(['bash', '-c', script]));
    const all = await settled(() => family(child.pid), 4);
    await child.stop(300);
    expect(all.filter(alive)).toEqual([]);
  });

  test('by its own hand leaves no orphan', async () => {
    const child = await spawner.spawn(
      spec(['sh', '-c', `${sleeper.map((word) => `'${word}'`).join(' ')} & echo $!; sleep 0.2; exit 3`]),
    );
    const orphan = await new Promise<number>((resolve) => child.onLine((line) => resolve(Number(line))));
    expect(await child.exited).toEqual({ code: 3, signal: null });
    await until(() => !alive(orphan));
  });

  test('leaves no record behind, and asking for it twice is asking once', async () => {
    const child = await spawner.spawn(spec(sleeper));
    expect(readdirSync(join(folder, 'children'))).toContain(`${child.pid}.json`);
    await Promise.all([child.stop(1_000), child.stop(1_000), child.stop(0)]);
    expect(readdirSync(join(folder, 'children'))).not.toContain(`${child.pid}.json`);
  });
});

describe('[FLEET-5] [SEC-4] the end of the daemon', () => {
  const commands = [
    sleeper,
    deaf,
    ['sh', '-c', `'${node}' -e 'setInterval(() => {}, 60000)' & wait`],
    ['bash', '-c', `set -m; '${node}' -e 'process.on("SIGTERM", () => {}); setInterval(() => {}, 60000)' & wait`],
  ];

  async function daemon(runFolder: string): Promise<{ process: ChildProcess; everyone: number[]; exited: Promise<unknown> }> {
    const script = new URL('../../test/fixtures/spawner-daemon.ts', import.meta.url).pathname;
    const child = spawn(node, [script, runFolder, ...commands.map((command) => JSON.stringify(command))], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const { pids } = JSON.parse(
      await new Promise<string>((resolve) => child.stdout.once('data', (data: Buffer) => resolve(data.toString()))),
    ) as { pids: number[] };
    const all = (): number[] => pids.flatMap(family);
    return { process: child, everyone: await settled(all, 6), exited };
  }

  test.each(['SIGKILL', 'SIGTERM'] as const)('by %s leaves no child and no grandchild', async (how) => {
    const runFolder = mkdtempSync(join(tmpdir(), 'sallyport-daemon-'));
    const { process: child, everyone, exited } = await daemon(runFolder);
    expect(everyone.filter(alive)).toHaveLength(6);
    child.kill(how);
    await exited;
    await until(() => everyone.every((pid) => !alive(pid)), how === 'SIGKILL' ? 2_000 : 4_000);
    expect(everyone.filter(alive)).toEqual([]);
    rmSync(runFolder, { recursive: true, force: true });
  });

  test('by SIGKILL of its whole process group leaves nobody either', async () => {
    const runFolder = mkdtempSync(join(tmpdir(), 'sallyport-daemon-'));
    const { process: child, everyone, exited } = await daemon(runFolder);
    process.kill(-child.pid!, 'SIGKILL');
    await exited;
    await until(() => everyone.every((pid) => !alive(pid)), 2_000);
    expect(everyone.filter(alive)).toEqual([]);
    rmSync(runFolder, { recursive: true, force: true });
  });
});

describe('[SEC-4] the sweep at boot', () => {
  test('ends what a record names when pid and start time fit, and never a stranger with the same number', async () => {
    const runFolder = mkdtempSync(join(tmpdir(), 'sallyport-sweep-'));
    const left = spawn(node, sleeper.slice(1), { detached: true, stdio: 'ignore' });
    const stranger = spawn(node, sleeper.slice(1), { detached: true, stdio: 'ignore' });
    const fresh = await createSpawner({ runFolder, log: silent });
    const record = (pid: number, startedAt: number, space = processSpace()): void =>
      writeFileSync(join(runFolder, 'children', `${pid}.json`), JSON.stringify({ space, pid, startedAt }));
    const [leftAt, strangerAt] = [startTimeOf(left.pid!) ?? 0, startTimeOf(stranger.pid!) ?? 0];
    record(stranger.pid!, strangerAt - 1);
    record(left.pid!, leftAt, 'another boot');
    writeFileSync(join(runFolder, 'children', 'torn.json'), '{"pid":');
    expect(await fresh.sweep()).toBe(0);
    expect(readdirSync(join(runFolder, 'children'))).toEqual([]);
    record(left.pid!, leftAt);
    expect(await fresh.sweep()).toBe(1);
    await until(() => !alive(left.pid!));
    expect(alive(stranger.pid!)).toBe(true);
    stranger.kill('SIGKILL');
    await fresh.close();
    rmSync(runFolder, { recursive: true, force: true });
  });
});
