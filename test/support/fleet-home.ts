// A fleet in a home of its own: real files, real processes, real database; the record is a list that a test can read.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createAuth } from '../../src/features/auth/auth.ts';
import { injectionProviders } from '../../src/features/auth/injected.ts';
import { createFleet, type Fleet, type FleetControl, type FleetDeps } from '../../src/features/fleet/fleet.ts';
import { fleetOperations } from '../../src/features/fleet/operations.ts';
import { fleetMigrations } from '../../src/features/fleet/store.ts';
import { vaultMigrations } from '../../src/features/vault/store.ts';
import { createVault, type VaultKeeping } from '../../src/features/vault/vault.ts';
import type { ClientHost } from '../../src/kernel/client-host.ts';
import type { Database } from '../../src/kernel/database.ts';
import type { AppError } from '../../src/kernel/errors.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { UpstreamClient } from '../../src/kernel/ports.ts';
import type { OperationContext } from '../../src/kernel/operation.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import { createFiles } from '../../src/platform/files.ts';
import { createKeychain } from '../../src/platform/keychain.ts';
import { createSpawner } from '../../src/platform/process.ts';
import { findProgram } from '../../src/platform/program-path.ts';
import { createSqliteDatabase } from '../../src/platform/sqlite.ts';
import { createSystemdCredential } from '../../src/platform/systemd-credential.ts';
import { createUpstreamConnector } from '../../src/platform/upstream.ts';
import { createHttpConnector } from '../../src/platform/upstream-http.ts';
import { createVaultCipher } from '../../src/platform/vault-cipher.ts';
import { createVaultKeyFile } from '../../src/platform/vault-key-file.ts';
import { fixtureCommand } from './fixture-upstream.ts';
import { createPlainAudit, type PlainAudit } from './plain-audit.ts';
import { silentLog } from './silent-log.ts';

export interface FleetHome {
  readonly folder: string;
  readonly settingsPath: string;
  readonly audit: PlainAudit;
  readonly db: Database;
  readonly log: ReturnType<typeof silentLog>;
  readonly vault: VaultKeeping;
  /** What sallyport.yaml says now. */
  settings(): string;
  writeSettings(text: string): void;
  /** Opens the fleet of this home; closed with the test, or by `close` as a daemon that goes down. */
  open(more?: Partial<FleetDeps>): Promise<Fleet & FleetControl>;
}

export interface UpstreamEntry {
  readonly name: string;
  readonly behaviour?: string;
  readonly args?: readonly string[];
  readonly more?: Readonly<Record<string, unknown>>;
}

/** YAML is a superset of JSON; a comment stands at the end so that tests can see it survive. */
export function settingsText(...entries: readonly UpstreamEntry[]): string {
  const items = entries.map(({ name, behaviour = 'echo', args = [], more = {} }) => {
    const [command, ...rest] = fixtureCommand(behaviour, ...args);
    return `  - ${JSON.stringify({ name, transport: { kind: 'stdio', command, args: rest }, ...more })}`;
  });
  return `# my settings\nupstreams:\n${items.join('\n')}\n`;
}

export async function fleetHome(text = ''): Promise<FleetHome> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-fleet-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'run'));
  const settingsPath = join(folder, 'sallyport.yaml');
  if (text !== '') writeFileSync(settingsPath, text);
  const db = await createSqliteDatabase({ path: join(folder, 'state.db') });
  onTestFinished(() => db.close());
  await db.migrate([...vaultMigrations, ...fleetMigrations]);
  const audit = createPlainAudit(db);
  const log = silentLog();
  const clock = createClock();
  const [digest, entropy, files] = [createDigest(), createEntropy(), createFiles()];
  const startKeys = {
    key_file: createVaultKeyFile(files, join(folder, 'vault.key')),
    systemd: createSystemdCredential(undefined),
    keychain: createKeychain({ environment: {} }),
  };
  const vault = await createVault({ db, audit, clock, entropy, digest, cipher: createVaultCipher(), startKeys, log });
  onTestFinished(() => vault.close());
  return {
    folder,
    settingsPath,
    audit,
    db,
    log,
    vault,
    settings: () => readFileSync(settingsPath, 'utf8'),
    writeSettings: (changed) => writeFileSync(settingsPath, changed),
    async open(more = {}) {
      const spawner = await createSpawner({ runFolder: join(folder, 'run'), log });
      const client = { name: 'test', version: '0' };
      const connector = createUpstreamConnector({ spawner, clock, log, client });
      const http = createHttpConnector({ clock, client });
      const environment = { PATH: process.env['PATH'], HOME: folder };
      const auth = createAuth({ vault, audit, clock, entropy, providers: injectionProviders });
      const fleet = await createFleet({
        db,
        audit,
        files,
        settingsPath,
        connector,
        http,
        auth,
        findProgram,
        clock,
        entropy,
        digest,
        log,
        environment,
        ...more,
      });
      const close = async (): Promise<void> => {
        await fleet.close();
        await auth.close();
        await spawner.close();
        http.close();
      };
      onTestFinished(close);
      return { ...fleet, close };
    },
  };
}

/** Accepts entries of the file as an operator would, and waits for their first start. */
export async function acceptAll(fleet: Fleet & FleetControl): Promise<void> {
  for (const { name, state } of fleet.status()) {
    if (state === 'unaccepted') await fleet.accept(fleet.standing(name), { actor: 'operator', proof: { key_id: 'k' } }, false);
  }
  await fleet.settled();
}

/** Calls a tool by upstream and name, as the gateway does after it decided. */
export function callTool(
  fleet: Fleet,
  upstream: string,
  tool: string,
  args: JsonObject = {},
  more: {
    signal?: AbortSignal;
    onProgress?: (note: JsonObject) => void;
    agent?: string;
    session?: string;
    client?: UpstreamClient;
    host?: ClientHost;
  } = {},
) {
  const found = fleet.resolve(upstream, tool);
  if (found.kind !== 'tool') return Promise.reject(new Error(`${upstream}__${tool} is ${found.kind}`));
  const signal = more.signal ?? new AbortController().signal;
  const { agent, session = 'a-session', client, host, onProgress } = more;
  return fleet.call({ agent, session, client, host, tool: found.tool, args, rest: {}, signal, onProgress });
}

/** Runs an operation as the gateway does: shown and run with one input, the proof's facts in the context. */
export async function operate(
  fleet: Fleet & FleetControl,
  name: string,
  raw: unknown,
  caller: OperationContext['caller'] = { kind: 'local' },
): Promise<{ shown: JsonObject; output: unknown }> {
  const operation = fleetOperations({
    fleet,
    reachable: (agent, upstream) => agent !== 'stranger' && !upstream.startsWith('hidden'),
  }).find((one) => one.name === name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const input = operation.input.parse(raw);
  const context: OperationContext = {
    caller,
    signal: new AbortController().signal,
    canProgress: false,
    proofFacts: { key_id: 'k' },
    progress: () => undefined,
  };
  const shown = (await operation.shown?.(input, context)) ?? {};
  return { shown, output: operation.output.parse(await operation.run(input, context)) };
}

/** The error of something that must not succeed. */
export const failure = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.unreachable('it succeeded'),
    (error: AppError) => error,
  );

export async function until(what: () => boolean, ms = 5_000): Promise<void> {
  const end = performance.now() + ms;
  while (!what()) {
    if (performance.now() > end) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const statusOf = (fleet: FleetControl, name: string) => fleet.status().find((status) => status.name === name);

/** The text of the first content block of an answer. */
export const textOf = (answer: { readonly json: string }): string =>
  (JSON.parse(answer.json) as { content: { text: string }[] }).content[0]?.text ?? '';

/** A fleet of these upstreams, all accepted and tried once. */
export async function openedFleet(...entries: readonly UpstreamEntry[]) {
  const home = await fleetHome(settingsText(...entries));
  const fleet = await home.open();
  await acceptAll(fleet);
  return { home, fleet };
}
