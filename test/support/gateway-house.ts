// The whole gateway in one process: the composition root's own wiring over a scratch home with a real database, a real record and
// fixture upstreams as real processes. No door stands in front of it. Time and disk can be taken over by a test.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { createCleanup } from '../../src/app/cleanup.ts';
import { openSlices } from '../../src/app/slices.ts';
import type { Settings } from '../../src/app/config.ts';
import type { AuditEvent, AuditRecord } from '../../src/features/audit/model.ts';
import { parseRecord } from '../../src/features/audit/record.ts';
import { scanLog } from '../../src/features/audit/scan.ts';
import { possessionInput } from '../../src/features/operator/model.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import type { Dispatch, Statement } from '../../src/kernel/dispatch.ts';
import type { Clock } from '../../src/kernel/ports.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createFaultyFiles, type FaultyFiles } from './faulty-files.ts';
import { fixtureCommand } from './fixture-upstream.ts';
import { houseAgent, type HouseAgent } from './house-agent.ts';
import { silentLog } from './silent-log.ts';
import { createTestOperator, type TestOperator } from './test-operator.ts';

export interface HouseOptions {
  /** Of policies.yaml when the operator is seated, which adopts it. */
  readonly policies: string;
  /** Name → behaviour of the fixture server and its arguments; accepted and started. */
  readonly upstreams?: Readonly<Record<string, readonly [string, ...string[]]>>;
  readonly clock?: Clock;
  readonly naming?: Settings['naming'];
  /** Of a human door; there is none unless given. */
  readonly humanUrl?: () => string;
}

export interface GatewayHouse {
  readonly home: string;
  readonly dispatch: Dispatch;
  readonly operator: TestOperator;
  /** The disk, which can be full or deaf. */
  readonly files: FaultyFiles;
  /** A new agent, so that tests can share a house; `kimi-1`, `kimi-2` … unless named. */
  agent(name?: string): Promise<HouseAgent>;
  /** Runs an operation as somebody on the local socket. */
  local(operation: string, input?: object): Promise<unknown>;
  prepare(operation: string, input?: object): Promise<Statement>;
  /** Runs a decision with the operator's signature over this statement, or over one prepared now. */
  decide(operation: string, input?: object, statement?: Statement): Promise<unknown>;
  /** Puts another text in force, signed. */
  adopt(policies: string): Promise<void>;
  approve(id: string, more?: object): Promise<unknown>;
  deny(id: string, reason?: string): Promise<unknown>;
  /** What waits for a person, of one agent. */
  open(agent: HouseAgent): Promise<readonly { readonly approval_id: string; readonly [field: string]: unknown }[]>;
  records(event?: AuditEvent): Promise<AuditRecord[]>;
  /** Every byte of the record's folder as one text. */
  recordText(): string;
  /** Every row of every table, as the database has them now. */
  rows(): Record<string, unknown[]>;
  close(): Promise<void>;
}

const local: Caller = { kind: 'local' };
const never = new AbortController().signal;

export async function openGatewayHouse(options: HouseOptions): Promise<GatewayHouse> {
  const { policies, upstreams = {}, clock = createClock(), naming, humanUrl } = options;
  const home = mkdtempSync(join(tmpdir(), 'sallyport-gateway-'));
  for (const folder of ['run', 'keys', 'audit']) mkdirSync(join(home, folder), { mode: 0o700 });
  const policyPath = join(home, 'policies.yaml');
  writeFileSync(policyPath, policies);
  const cleanup = createCleanup();
  cleanup.add(async () => rmSync(home, { recursive: true, force: true }));
  const files = createFaultyFiles();
  const watch = files.watch.bind(files);
  let adopting = false;
  // A text that is about to be signed must not be taken for an unsigned edit on the way.
  files.watch = (path, changed) => watch(path, () => (adopting ? undefined : changed()));
  const operator = createTestOperator();
  const storage = join(home, 'state.db');
  let agents = 0;
  const { dispatch, fleet, installation } = await openSlices({
    settings: {
      home,
      agentPort: 0,
      humanPort: 0,
      storage: `sqlite:${storage}`,
      socketPath: join(home, 'run', 'sallyport.sock'),
      logLevel: 'error',
      environment: { PATH: process.env['PATH'] ?? '', HOME: home },
      ...(naming === undefined ? {} : { naming }),
    },
    log: silentLog(),
    agentUrl: () => undefined,
    ...(humanUrl === undefined ? {} : { humanUrl }),
    cleanup,
    onLost: (reason) => {
      throw reason;
    },
    outside: { clock, files },
  });

  const operate = (operation: string, input: object = {}): Promise<unknown> => dispatch.operate(local, operation, input, never);
  const prepare = (operation: string, input: object = {}): Promise<Statement> => dispatch.prepare(local, operation, input, never);

  async function decide(operation: string, input: object = {}, given?: Statement): Promise<unknown> {
    const proof = operator.prove(given ?? (await prepare(operation, input)));
    return dispatch.operate({ kind: 'operator', proof }, operation, input, never);
  }

  async function records(event?: AuditEvent): Promise<AuditRecord[]> {
    // The records of a turn are on the disk when it ends.
    await setImmediate();
    await setImmediate();
    const found: AuditRecord[] = [];
    for await (const step of scanLog(files, join(home, 'audit'))) {
      if (step.kind !== 'records') throw new Error(`${step.kind} at ${step.index}`);
      for (const bytes of step.records) found.push(parseRecord(bytes) as AuditRecord);
    }
    return event === undefined ? found : found.filter((record) => record.event === event);
  }

  const possession = encodeBase64url(operator.signBytes(possessionInput(installation, operator.publicKey)));
  await operate('operator.create', { publicKey: operator.publicKey, possession });
  // The first policy is adopted, or refused, right after the seat is taken.
  while (!(await records()).some(({ event }) => event === 'policy.adopted' || event === 'policy.refused')) await setTimeout(2);
  for (const [name, [behaviour, ...args]] of Object.entries(upstreams)) {
    await decide('fleet.add', { name, run: fixtureCommand(behaviour, ...args) });
  }
  await fleet.settled();

  return {
    home,
    dispatch,
    operator,
    files,
    async agent(name = `kimi-${(agents += 1)}`) {
      await decide('agents.add', { name });
      return houseAgent(dispatch, { kind: 'agent', agent: name, session: `session-of-${name}` });
    },
    local: operate,
    prepare,
    decide,
    async adopt(text) {
      adopting = true;
      try {
        writeFileSync(policyPath, text);
        await decide('policy.adopt');
      } finally {
        adopting = false;
      }
    },
    approve: (id, more = {}) => decide('approvals.approve', { id, ...more }),
    deny: (id, reason = '') => decide('approvals.deny', { id, reason }),
    async open({ caller }) {
      const rows = (await operate('approvals.list')) as { approval_id: string; agent: string }[];
      return rows.filter(({ agent }) => agent === caller.agent);
    },
    records,
    recordText: () => textOf(join(home, 'audit')),
    rows: () => rowsOf(storage),
    close: () => cleanup.run(),
  };
}

function textOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n');
}

function rowsOf(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
    return Object.fromEntries(tables.map(({ name }) => [String(name), database.prepare(`select * from "${String(name)}"`).all()]));
  } finally {
    database.close();
  }
}
