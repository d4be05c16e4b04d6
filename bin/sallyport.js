#!/usr/bin/env node
// Starts the program on a runtime that can run it. Plain JavaScript that any Node from 18 on reads: an older one looks for the
// runtime that came with the packages and hands everything over to it, or says in one sentence what is needed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** node:sqlite without a flag, type stripping, and crypto.argon2 (24.7). */
const needed = [24, 7];
/** Megabytes. A daemon under load makes young objects without end; V8 would give them 128 MB of memory, and no time is gained by it. */
const youngSpace = '--max-semi-space-size=16';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const built = join(root, 'dist', 'app', 'main.js');
const source = join(root, 'src', 'app', 'main.ts');

function isRecent(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}

/** The `node` of the npm package for this platform, installed beside us or hoisted above us. */
function bundledRuntime() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    const binary = join(dirname(manifest), 'bin', 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The child shares our terminal and streams. Signals sent to us go on to it, its end is our end, and the channel between us closes
 * when we die in any way, kill -9 included: the child then stops too.
 */
function handOver(runtime, entry) {
  const child = spawn(runtime, [youngSpace, entry, ...process.argv.slice(2)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on('error', (error) => fail(`cannot run ${runtime}: ${error.message}`));
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal === null) process.exit(code ?? 1);
    // Die the way it did, so that a shell sees the same; a signal that does not end us becomes its conventional number.
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 100);
  });
}

/**
 * A heap can only be given its size when a process begins: the daemon begins again, in the same process, unless whoever started it chose a
 * size, or a channel would be lost by it.
 */
function beginAgain() {
  const chosen = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-').includes('semi-space-size');
  if (
    process.argv[2] !== 'up' ||
    chosen ||
    process.channel !== undefined ||
    process.execve === undefined ||
    process.platform === 'win32'
  ) {
    return;
  }
  const args = [process.execPath, youngSpace, ...process.execArgv, ...process.argv.slice(1)];
  try {
    process.execve(process.execPath, args, process.env);
  } catch {
    // Not possible here, and not needed.
  }
}

function fail(message) {
  process.stderr.write(`sallyport: ${message}\n`);
  process.exit(1);
}

const entry = existsSync(built) ? built : existsSync(source) ? source : undefined;
const runtime = isRecent(process.versions.node) ? undefined : bundledRuntime();
if (entry === undefined) fail(`the program is missing from ${root}; install the package again, or build a clone with: npm ci`);
else if (isRecent(process.versions.node)) {
  beginAgain();
  await import(pathToFileURL(entry).href);
} else if (runtime !== undefined) handOver(runtime, entry);
else {
  fail(
    `needs Node.js ${needed.join('.')} or newer, this is ${process.versions.node}: install it from nodejs.org, or run npm install ` +
      `node-${process.platform}-${process.arch}@24 in ${root} to put it beside the program.`,
  );
}
