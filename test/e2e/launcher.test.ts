// bin/sallyport.js in packages of its own: which runtime it picks, what it passes on, and what it says when it cannot.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isAlive } from '../../src/app/process-alive.ts';
import { oldRuntime, posing } from '../support/old-runtime.ts';

const launcher = fileURLToPath(new URL('../../bin/sallyport.js', import.meta.url));
// Says which runtime it runs on, then does as its first argument says. Written for any Node, as dist/ would not be.
const program = `
const [what, ...rest] = process.argv.slice(2);
process.on('disconnect', () => process.exit(0));
process.channel?.unref();
if (what === 'wait') {
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => process.exit(7));
}
process.stdout.write(JSON.stringify({ node: process.versions.node, pid: process.pid, rest, tied: process.connected === true, flags: process.execArgv }) + '\\n');
if (what === 'echo') process.stdin.pipe(process.stdout);
if (what === 'exit') process.exit(Number(rest[0]));
if (what === 'abort') process.kill(process.pid, rest[0]);
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'package-'));
  mkdirSync(join(root, 'bin'));
  copyFileSync(launcher, join(root, 'bin', 'sallyport.js'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function install({ built = true, runtime = true }): void {
  const folder = join(root, built ? 'dist' : 'src', 'app');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, built ? 'main.js' : 'main.ts'), program);
  if (!runtime) return;
  const modules = join(root, 'node_modules', `node-${process.platform}-${process.arch}`);
  mkdirSync(join(modules, 'bin'), { recursive: true });
  writeFileSync(join(modules, 'package.json'), '{"name":"runtime","version":"24.0.0"}');
  symlinkSync(process.execPath, join(modules, 'bin', 'node'));
}

function run(runtime: readonly [string, ...string[]], ...args: string[]) {
  return runWith({}, runtime, ...args);
}

function runWith(env: Record<string, string>, runtime: readonly [string, ...string[]], ...args: string[]) {
  const [command, ...leading] = runtime;
  return spawnSync(command, [...leading, join(root, 'bin', 'sallyport.js'), ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    input: 'hello\n',
    timeout: 15_000,
  });
}

async function start(...args: string[]): Promise<{ child: ChildProcess; pid: number }> {
  const [command, ...leading] = oldRuntime();
  const child = spawn(command, [...leading, join(root, 'bin', 'sallyport.js'), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const first = await new Promise<string>((resolve) => child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  return { child, pid: (JSON.parse(first) as { pid: number }).pid };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not come true within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('[HOUSE-3] an older Node runs the program on the bundled runtime, with its arguments and streams', () => {
  install({});
  const { status, stdout } = run(oldRuntime(), 'echo', 'a b', '--json');
  const [line = '', echoed] = stdout.split('\n');
  expect(JSON.parse(line)).toMatchObject({ node: process.versions.node, rest: ['a b', '--json'], tied: true });
  expect([echoed, status]).toEqual(['hello', 0]);
});

test('[HOUSE-3] a recent Node runs it in the same process, with nothing in between', () => {
  install({ runtime: false });
  expect(JSON.parse(run([process.execPath], 'exit', '0').stdout)).toMatchObject({ node: process.versions.node, tied: false });
});

describe('[FAST-7] the daemon', () => {
  const bounded = '--max-semi-space-size=16';
  beforeEach(() => install({}));
  const flagsOf = ({ stdout }: { stdout: string }): unknown => (JSON.parse(stdout) as { flags: unknown }).flags;

  test('begins with a bounded young heap, in the process that was started, with arguments, streams and exit code', () => {
    const ran = run([process.execPath, '--no-warnings'], 'up', 'a b', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ pid: ran.pid, rest: ['a b', '--json'], flags: [bounded, '--no-warnings'] });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
  });

  test('has it on the bundled runtime too', () => {
    expect(flagsOf(run(oldRuntime(), 'up'))).toEqual([bounded]);
  });

  test('keeps the size that somebody chose, and other commands begin as they are', () => {
    expect(flagsOf(runWith({ NODE_OPTIONS: '--max-semi-space-size=4' }, [process.execPath], 'up'))).toEqual([]);
    expect(flagsOf(run([process.execPath, '--max_semi_space_size=4'], 'up'))).toEqual(['--max_semi_space_size=4']);
    expect(flagsOf(run([process.execPath], 'status'))).toEqual([]);
  });
});

test('[HOUSE-3] a clone that was not built runs from its source', () => {
  install({ built: false });
  expect(run(oldRuntime(), 'exit', '0')).toMatchObject({ status: 0, stderr: '' });
});

test.each([
  ['20.11.0', 'this is 20.11.0'],
  ['24.6.9', 'this is 24.6.9'],
])('[HOUSE-3] Node %s without the bundled runtime is told in one sentence what is needed', (version, words) => {
  install({ runtime: false });
  const { status, stdout, stderr } = run(posing(version), 'exit', '0');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^sallyport: needs Node\.js 24\.7 or newer, [^\n]*\n$/);
  expect(stderr).toContain(words);
});

test.each(['24.7.0', '25.0.0'])('[HOUSE-3] Node %s is recent enough', (version) => {
  install({ runtime: false });
  expect(run(posing(version), 'exit', '0').status).toBe(0);
});

test('a package without its program says so', () => {
  const { status, stderr } = run([process.execPath], 'exit', '0');
  expect([status, stderr]).toEqual([1, expect.stringContaining('the program is missing')]);
});

describe('on an older Node', () => {
  beforeEach(() => install({}));

  test.each([0, 1, 2, 7])('exit code %i is passed on', (code) => {
    expect(run(oldRuntime(), 'exit', String(code)).status).toBe(code);
  });

  test.each(['SIGKILL', 'SIGTERM', 'SIGABRT'] as const)('death by %s is passed on', (signal) => {
    expect(run(oldRuntime(), 'abort', signal)).toMatchObject({ status: null, signal });
  });

  test('a signal to the launcher reaches the program, whose answer counts', async () => {
    const { child, pid } = await start('wait');
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve([code, signal])));
    child.kill('SIGTERM');
    expect(await ended).toEqual([7, null]);
    expect(isAlive(pid)).toBe(false);
  });

  test('[SEC-4] kill -9 of the launcher takes the program with it', async () => {
    const { child, pid } = await start('wait');
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });
});
