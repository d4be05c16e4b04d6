// Runs the public conformance suite as a program of its own and reads what it wrote. Judges nothing.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Turns } from './turns.ts';

export type RequirementSet = '2025-11-25' | '2026-07-28';
export type Side = 'server' | 'client';

export interface Check {
  readonly id: string;
  /** Tells checks of one id apart. */
  readonly name: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface Scenario {
  readonly name: string;
  readonly checks: readonly Check[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const home = dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'));
const program = join(home, 'dist', 'index.js');

/** A run that takes longer than this is broken. */
const patienceMs = 120_000;
/** Its words are for the person who looks into a failure. */
const maxSaid = 20_000;

interface Requirements extends Readonly<Record<Side, readonly string[]>> {
  readonly not_scored: readonly { readonly scenario: string; readonly leg: Side }[];
}

function requirementsOf(set: RequirementSet): Requirements {
  return parse(readFileSync(join(home, 'requirements', `${set}.yaml`), 'utf8')) as Requirements;
}

/** The scenarios a set requires, as the suite ships them. */
export function requiredScenarios(set: RequirementSet, side: Side): readonly string[] {
  return requirementsOf(set)[side];
}

/** The suite as a client of the server at `url`. */
export function testServer(set: RequirementSet, url: string): Promise<Scenario[]> {
  return runSuite('server', set, ['--url', url]);
}

/**
 * The suite as the server of a program, which is started for all scenarios at once and given the URL as its last argument, and `Turns` in
 * the environment. `script` is relative to the repository.
 */
export function testClient(set: RequirementSet, script: string): Promise<Scenario[]> {
  return runSuite('client', set, ['--command', `node ${script}`, '--timeout', String(patienceMs)]);
}

async function runSuite(side: Side, set: RequirementSet, args: readonly string[]): Promise<Scenario[]> {
  const output = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const said = await run([program, side, ...args, '--requirements', set, '-o', output], JSON.stringify(turnsOf(set, output)));
    const scenarios = read(output);
    if (scenarios.length === 0) throw new Error(`the suite wrote no result; it said:\n${said}`);
    return scenarios;
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function turnsOf(set: RequirementSet, output: string): Turns {
  const folder = join(output, 'turns');
  mkdirSync(folder);
  const { client, not_scored: unscored } = requirementsOf(set);
  return { folder, clients: client.length + unscored.filter(({ leg }) => leg === 'client').length };
}

/** The exit code says whether every required check passed; the results say which, so only the results count. */
function run(args: readonly string[], turns: string): Promise<string> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: path, HOME: tmpdir(), NO_COLOR: '1', CONFORMANCE_TURNS: turns },
    // A group of its own: the programs it starts for its client scenarios end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-maxSaid)));
  }
  return new Promise((resolve, reject) => {
    const impatience = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      reject(new Error(`the suite took longer than ${patienceMs} ms; it said:\n${said}`));
    }, patienceMs);
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(impatience);
      resolve(said);
    });
  });
}

/** One folder a scenario, `[server-]NAME-TIMESTAMP/checks.json`; a name may hold a slash. */
function read(output: string): Scenario[] {
  const files = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('checks.json'));
  return files.sort().map((file) => ({
    name: dirname(file)
      .replace(/^server-/, '')
      .replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, ''),
    checks: JSON.parse(readFileSync(join(output, file), 'utf8')) as Check[],
  }));
}
