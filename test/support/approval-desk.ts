// Approvals with the grants they buy, over a real database, a clock that tests move and a policy they write as two functions.
import { onTestFinished } from 'vitest';
import { createApprovals, type Approvals } from '../../src/features/approvals/approvals.ts';
import type { FindDeed } from '../../src/features/approvals/deed.ts';
import type { Decisions } from '../../src/features/approvals/decisions.ts';
import type { Approval, Question } from '../../src/features/approvals/model.ts';
import { approvalOperations } from '../../src/features/approvals/operations.ts';
import { approvalMigrations } from '../../src/features/approvals/store.ts';
import { createGrants, type Grants } from '../../src/features/grants/grants.ts';
import { grantMigrations } from '../../src/features/grants/store.ts';
import { covers, parseCapability } from '../../src/features/policy/capability.ts';
import type { OperationContext } from '../../src/kernel/operation.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createDigest, createEntropy } from '../../src/platform/crypto.ts';
import type { OpenDatabase, TestDatabase } from './databases.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createPlainAudit, type PlainAudit } from './plain-audit.ts';

export const minute = 60_000;
/** What the gateway hands on of a verified signature. */
export const proof: JsonObject = { key_id: '0011223344556677', method: 'passphrase', statement_sha256: 'ab', signature: 'cd' };

export const callQuestion: Question = {
  agent: 'kimi',
  origin: 'call',
  capability: 'aws:call:deploy',
  rule: 'aws:call:*',
  reason: '',
  args: { to: 'prod', count: 2 },
  toolHash: 'h1',
  ttlMs: 15 * minute,
  guards: [],
};

export const requestQuestion: Question = {
  agent: 'kimi',
  origin: 'request',
  capability: 'aws:deploy:prod',
  rule: 'aws:deploy:*',
  reason: 'ship the fix',
  ttlMs: 15 * minute,
  guards: [],
};

export const registrationQuestion: Question = {
  agent: 'kimi',
  origin: 'registration',
  capability: 'sallyport:register:wiki',
  rule: 'sallyport:register:*',
  reason: '',
  args: { upstream: { name: 'wiki' } },
  ttlMs: 15 * minute,
  guards: [],
};

export interface Desk {
  readonly approvals: Approvals & Decisions;
  readonly grants: Grants;
  readonly clock: FakeClock;
  readonly audit: PlainAudit;
  readonly db: TestDatabase;
  policy: { version: string; approvalTtlMs: number; stillAsks: (approval: Approval) => void; findDeed?: FindDeed };
  /** The same state under a new process. */
  restart(): Promise<Desk>;
  operate(name: string, input: unknown, more?: Partial<OperationContext>): Promise<unknown>;
  shown(name: string, input: unknown): Promise<JsonObject>;
}

export async function createDesk(open: OpenDatabase): Promise<Desk> {
  const db = await open();
  await db.migrate([...grantMigrations, ...approvalMigrations]);
  return seat(open, db, createFakeClock(), { version: 'v1', approvalTtlMs: 10 * minute, stillAsks: () => undefined });
}

async function seat(open: OpenDatabase, db: TestDatabase, clock: FakeClock, policy: Desk['policy']): Promise<Desk> {
  const audit = createPlainAudit(db);
  const entropy = createEntropy();
  const compare = (outer: string, inner: string): boolean => covers(parseCapability(outer), parseCapability(inner));
  const grants = await createGrants({ db, audit, clock, entropy, covers: compare });
  const approvals = await createApprovals({
    db,
    audit,
    clock,
    entropy,
    digest: createDigest(),
    grants,
    limits: () => policy,
    policyVersion: () => policy.version,
    stillAsks: (approval) => policy.stillAsks(approval),
    findDeed: async (approval) => {
      if (policy.findDeed === undefined) throw new Error('there is no deed');
      return policy.findDeed(approval);
    },
  });
  onTestFinished(() => approvals.close());
  const operation = (name: string) => {
    const found = approvalOperations({ approvals }).find((one) => one.name === name);
    if (found === undefined) throw new Error(`no operation ${name}`);
    return found;
  };
  const plain: OperationContext = {
    caller: { kind: 'local' },
    signal: new AbortController().signal,
    canProgress: false,
    progress: () => undefined,
  };
  return {
    approvals,
    grants,
    clock,
    audit,
    db,
    policy,
    async restart() {
      approvals.close();
      await db.close();
      return seat(open, await open(db.url), clock, policy);
    },
    operate: async (name, input, more = {}) => {
      const { input: schema, output, run } = operation(name);
      return output.parse(await run(schema.parse(input), { ...plain, ...more }));
    },
    shown: async (name, input) => {
      const { input: schema, shown } = operation(name);
      return (await shown?.(schema.parse(input), plain)) ?? {};
    },
  };
}
