import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPlainAudit, type PlainAudit } from '../../../test/support/plain-audit.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Operation, OperationContext, ToolAnnotations } from '../../kernel/operation.ts';
import { createClock } from '../../platform/clock.ts';
import { createDigest } from '../../platform/crypto.ts';
import { openDatabase } from '../../platform/database.ts';
import { createFiles } from '../../platform/files.ts';
import { policyOperations } from './operations.ts';
import { hashOf } from './policy-file.ts';
import { createPolicy, type Policy, type PolicyAdmin } from './policy.ts';
import { createProposals } from './proposals/proposals.ts';
import { policyMigrations } from './store.ts';

const digest = createDigest();
const version = (text: string): string => hashOf(digest, text);
const text = `version: 1
limits: { deny: ['aws:*:production'], max_ttl: 30m }
agents:
  kimi:
    limits: { rate_limit: 10/m }
    capabilities:
      - { match: 'fakegit:call:whoami', effect: allow, ttl: 10m }
      - { match: 'db:read:*', effect: allow, redact: [email] }
      - { match: '*:call:*', effect: allow, annotations: { readOnlyHint: true } }
      - { match: 'fakegit:call:danger', effect: ask }
      - { match: 'fakegit:call:push', effect: deny, when: { branch: main } }
      - { match: 'fakegit:call:push', effect: allow, when: { branch: 'dev/*' } }
`;

const proof = (challenge: string): Caller => ({
  kind: 'operator',
  proof: { challenge, method: 'passphrase', keyId: 'k', signature: 's' },
});

describe('the operations of policy', () => {
  let home: string;
  let path: string;
  let audit: PlainAudit;
  let policy: Policy & PolicyAdmin;
  let operations: Operation[];
  let close: () => Promise<void>;
  let hasOperator: boolean;
  const annotations: Record<string, ToolAnnotations> = { 'fakegit:call:log': { readOnlyHint: true } };

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'sallyport-policy-'));
    path = join(home, 'policies.yaml');
    const db = await openDatabase(`sqlite:${join(home, 'state.db')}`);
    await db.migrate(policyMigrations);
    audit = createPlainAudit(db);
    const files = createFiles();
    hasOperator = false;
    const log = silentLog();
    policy = await createPolicy({ db, audit, files, path, clock: createClock(), digest, log, hasOperator: () => hasOperator });
    const proposals = await createProposals({
      db,
      audit,
      files,
      path: join(home, 'policies.pending.yaml'),
      clock: createClock(),
      digest,
      log,
      policy,
    });
    operations = policyOperations({
      policy,
      proposals,
      files,
      path,
      agentNames: () => ['kimi'],
      annotationsOf: (capability) => annotations[capability],
    });
    close = () => db.close();
  });
  afterEach(async () => {
    policy.close();
    await close();
    rmSync(home, { recursive: true, force: true });
  });

  function named(name: string): Operation {
    const operation = operations.find((candidate) => candidate.name === name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return operation;
  }
  const contextOf = (caller: Caller, proofFacts?: JsonObject): OperationContext => ({
    caller,
    signal: AbortSignal.timeout(10_000),
    canProgress: false,
    progress() {},
    ...(proofFacts === undefined ? {} : { proofFacts }),
  });
  async function run(name: string, input: unknown = {}, context = contextOf({ kind: 'local' })): Promise<Record<string, unknown>> {
    const operation = named(name);
    const output = operation.output.parse(await operation.run(operation.input.parse(input), context));
    return output as Record<string, unknown>;
  }
  const drawn = (name: string, output: unknown): string =>
    (named(name).command?.draw as ((output: unknown) => string) | undefined)?.(output) ?? '';
  async function adoptFirst(policyText: string): Promise<void> {
    await writeFile(path, policyText);
    await policy.adoptFirst();
  }

  describe('policy.digest', () => {
    const agent = (name: string): OperationContext => contextOf({ kind: 'agent', agent: name, session: 's' });

    it('[TOOL-3] is scopegate_policy_summary in the shape of the gate contract', async () => {
      await adoptFirst(text);
      expect(named('policy.digest')).toMatchObject({
        access: 'agent',
        effect: 'look',
        tool: { toolset: 'gate', name: 'scopegate_policy_summary', annotations: { readOnlyHint: true } },
      });
      expect(await run('policy.digest', {}, agent('kimi'))).toEqual({
        agentId: 'kimi',
        agent_found: true,
        default_ttl: '15m',
        auto_approve: ['fakegit:call:whoami', 'db:read:*', '*:call:* [readOnlyHint: true]', 'fakegit:call:push [branch: "dev/*"]'],
        requires_approval: ['fakegit:call:danger'],
        deny_globs: ['aws:*:production', 'fakegit:call:push [branch: "main"]'],
        max_ttl: '30m',
        approval_ttl: '10m',
        rate_limit: '10/m',
        team: null,
      });
      expect(audit.entries).toHaveLength(1);
    });

    it('[TOOL-3] tells an agent without a section what denies it all the same', async () => {
      await adoptFirst(text);
      expect(await run('policy.digest', {}, agent('stranger'))).toEqual({
        agentId: 'stranger',
        agent_found: false,
        auto_approve: [],
        requires_approval: [],
        deny_globs: ['aws:*:production'],
        max_ttl: '30m',
        approval_ttl: '10m',
        rate_limit: '30/m',
        team: null,
      });
    });

    it('[TOOL-3] is an answer also while nothing is in force, and for agents only', async () => {
      expect(await run('policy.digest', {}, agent('kimi'))).toMatchObject({
        agent_found: false,
        deny_globs: ['*:*:*'],
        team: null,
      });
      await expect(async () => run('policy.digest')).rejects.toMatchObject({ kind: 'denied' });
      expect(() => named('policy.digest').input.parse({ agent: 'other' })).toThrow('Unrecognized key');
    });
  });

  describe('policy.check', () => {
    it('[POL-9] says what is wrong, odd, and in force', async () => {
      await adoptFirst(
        text.replace("- { match: 'fakegit:call:danger', effect: ask }", "- { match: 'fakegit:call:whoami', effect: ask }"),
      );
      const output = await run('policy.check');
      expect(output).toMatchObject({
        ok: true,
        state: 'in_force',
        findings: [
          {
            severity: 'warning',
            line: 10,
            message: "Contradiction: 'fakegit:call:whoami' is 'ask' here and 'allow' in line 7, which decides.",
          },
        ],
      });
      expect(drawn('policy.check', output)).toContain('10:9     warning  Contradiction');
    });

    it('[POL-9] says that a wider file waits, and what it would permit', async () => {
      await adoptFirst(text);
      await writeFile(path, text.replace('danger', 'danger*'));
      await vi.waitFor(() => expect(policy.standing().disk.state).toBe('waiting'), { timeout: 5_000 });
      expect(await run('policy.check')).toMatchObject({
        ok: false,
        state: 'waiting',
        wider: ["section 'kimi': 'fakegit:call:danger*' may now ask more, or for longer"],
        next_step: expect.stringContaining('sallyport policies adopt') as unknown,
      });
    });

    it('[POL-9] says where the errors are, also before anything was adopted', async () => {
      await writeFile(path, 'version: 1\nagnets: {}\n');
      const output = await run('policy.check');
      expect(output).toMatchObject({
        ok: false,
        state: 'none',
        findings: [{ severity: 'error' }, { severity: 'error', line: 2, hint: "Did you mean 'agents'?" }],
        next_step: expect.stringContaining('Create the operator') as unknown,
      });
    });

    it('[POL-9] [POL-11] tells an operator whose first file had errors to correct it and adopt it, not to become one', async () => {
      await adoptFirst('version: 1\nagnets: {}\n');
      hasOperator = true;
      const output = await run('policy.check');
      expect(output).toMatchObject({
        ok: false,
        state: 'none',
        next_step: 'No policy was ever adopted, so everything is denied. Correct the file, then run: sallyport policies adopt',
      });
      expect(drawn('policy.check', output)).toContain('sallyport policies adopt');
    });

    it('checks another file without judging the policy in force', async () => {
      const other = join(home, 'other.yaml');
      await writeFile(
        other,
        text
          .replace('{ readOnlyHint: true }', '{ readOnlyHint: true, openWorldHint: false }')
          .replace('danger', 'db:danger')
          .replace(/.*danger.*\n/, ''),
      );
      expect(await run('policy.check', { file: other })).toEqual({ ok: true, state: 'other_file', file: other, findings: [] });
      await expect(run('policy.check', { file: 'other.yaml' })).rejects.toMatchObject({
        kind: 'invalid',
        hint: expect.stringContaining('$PWD') as unknown,
      });
      await expect(run('policy.check', { file: join(home, 'none.yaml') })).rejects.toMatchObject({ kind: 'not_found' });
      await expect(run('policy.check', { file: home })).rejects.toMatchObject({ kind: 'not_found' });
    });

    it('[POL-11] says that the file is missing', async () => {
      await adoptFirst(text);
      rmSync(path);
      await vi.waitFor(() => expect(policy.standing().disk.state).toBe('missing'), { timeout: 5_000 });
      expect(await run('policy.check')).toMatchObject({
        ok: false,
        state: 'missing',
        next_step: expect.stringContaining('Everything is denied') as unknown,
      });
    });
  });

  describe('policy.explain', () => {
    it('[POL-9] names the deciding rule, all others that touch, and where the ttl comes from', async () => {
      await adoptFirst(text);
      const output = await run('policy.explain', { agent: 'kimi', capability: 'fakegit:call:log', ttl: '20m' });
      expect(output).toMatchObject({
        decision: 'allow',
        section: 'kimi',
        ttl: '15m',
        ttl_is_least_of: [
          { from: 'requested', value: '20m' },
          { from: 'built-in default', value: '15m' },
          { from: 'max_ttl', value: '30m' },
        ],
        rules: [{ rule: '*:call:* [readOnlyHint: true]', line: 9, condition: 'holds', decides: true, reach: 'all of it' }],
      });
      expect(drawn('policy.explain', output)).toContain(
        '> line 9     allow *:call:* [readOnlyHint: true]: all of it, condition holds',
      );
    });

    it('[POL-9] names the built-in rules', async () => {
      await adoptFirst(text);
      const output = await run('policy.explain', { agent: 'kimi', capability: 'vault:inject:token' });
      expect(output).toMatchObject({
        decision: 'ask',
        rules: [{ rule: 'vault:inject:*', built_in: true, line: 0, decides: true }],
      });
      expect(drawn('policy.explain', output)).toContain('> built-in   ask vault:inject:*');
    });

    it('[POL-9] names the deny, and tests arguments where they are given', async () => {
      await adoptFirst(text);
      expect(await run('policy.explain', { agent: 'kimi', capability: 'aws:*:prod*' })).toMatchObject({
        decision: 'deny',
        code: 'ceiling_blocked',
        denies: [{ deny: 'aws:*:production', from: 'global limits', line: 2, bites: true }],
      });
      const push = { agent: 'kimi', capability: 'fakegit:call:push' };
      expect(await run('policy.explain', { ...push, args: { branch: 'main' } })).toMatchObject({
        decision: 'deny',
        denies: [{ bites: true }],
      });
      expect(await run('policy.explain', { ...push, args: { branch: 'dev/x' } })).toMatchObject({
        decision: 'allow',
        guards: [],
        denies: [{ bites: false }],
      });
      expect(await run('policy.explain', push)).toMatchObject({ decision: 'allow', guards: [{ branch: 'dev/*' }] });
    });

    it('explains what is no capability and who has no section', async () => {
      await adoptFirst(text);
      expect(await run('policy.explain', { agent: 'kimi', capability: 'a|b' })).toMatchObject({
        decision: 'deny',
        code: 'invalid_capability',
        rules: [],
      });
      const stranger = await run('policy.explain', { agent: 'stranger', capability: 'x:call:y' });
      expect(stranger).toMatchObject({ decision: 'deny', code: 'no_policy', section: null });
      expect(drawn('policy.explain', stranger)).toContain('nothing matches');
    });

    it('[POL-11] says why when nothing is in force', async () => {
      await expect(async () => run('policy.explain', { agent: 'kimi', capability: 'x:call:y' })).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('no operator yet') as unknown,
      });
    });
  });

  describe('policy.adopt', () => {
    const wider = text.replace('danger', 'danger*');
    const shown = (caller: Caller): Promise<JsonObject> => {
      const operation = named('policy.adopt');
      return operation.shown?.({}, contextOf(caller)) ?? Promise.resolve({});
    };

    it('[POL-8] shows what changes, what gets wider, the hash and the whole text', async () => {
      await adoptFirst(text);
      await writeFile(path, wider);
      expect(await shown({ kind: 'local' })).toEqual({
        from: version(text),
        to: version(wider),
        changes: "- section 'kimi': ask fakegit:call:danger\n+ section 'kimi': ask fakegit:call:danger*",
        wider: "section 'kimi': 'fakegit:call:danger*' may now ask more, or for longer",
        text: wider,
      });
    });

    it('[POL-8] puts in force what was shown, even when the file has changed since', async () => {
      await adoptFirst(text);
      await writeFile(path, wider);
      await shown(proof('c1'));
      await writeFile(path, text.replace('danger', '*'));
      expect(await run('policy.adopt', {}, contextOf(proof('c1'), { key_id: 'k' }))).toEqual({
        adopted: true,
        version: version(wider),
      });
      expect(policy.version()).toBe(version(wider));
      expect(audit.of('policy.adopted').at(-1)).toMatchObject({
        facts: { from: version(text), to: version(wider), proof: { key_id: 'k' } },
      });
    });

    it('[POL-8] runs once, and only with the proof it was shown to', async () => {
      await adoptFirst(text);
      await writeFile(path, wider);
      await shown(proof('c1'));
      const refused = { code: 'operator.proof_required' };
      await expect(run('policy.adopt', {}, contextOf({ kind: 'local' }, {}))).rejects.toMatchObject(refused);
      await expect(run('policy.adopt', {}, contextOf(proof('c2'), {}))).rejects.toMatchObject(refused);
      await expect(run('policy.adopt', {}, contextOf(proof('c1')))).rejects.toMatchObject(refused);
      expect(policy.version()).toBe(version(text));
      await run('policy.adopt', {}, contextOf(proof('c1'), {}));
      await expect(run('policy.adopt', {}, contextOf(proof('c1'), {}))).rejects.toMatchObject(refused);
    });

    it('says that there is nothing to adopt, or what is wrong with it, before anybody signs', async () => {
      await adoptFirst(text);
      await expect(shown({ kind: 'local' })).rejects.toMatchObject({ code: 'policy.unchanged' });
      await writeFile(path, text.replace('effect: ask', 'effekt: ask'));
      await expect(shown({ kind: 'local' })).rejects.toMatchObject({
        code: 'policy.invalid',
        message: expect.stringContaining('line 10') as unknown,
      });
      rmSync(path);
      await expect(shown({ kind: 'local' })).rejects.toMatchObject({ code: 'policy.missing' });
    });

    it('is the decision of an operator', () => {
      expect(named('policy.adopt')).toMatchObject({ access: 'operator', effect: 'change', command: { words: 'policies adopt' } });
    });
  });
});
