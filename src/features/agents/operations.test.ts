import { expect, test } from 'vitest';
import type { Caller } from '../../kernel/caller.ts';
import type { Operation, OperationContext } from '../../kernel/operation.ts';
import { createDigest, createEntropy } from '../../platform/crypto.ts';
import { describeDatabases } from '../../../test/support/databases.ts';
import type { OpenDatabase } from '../../../test/support/databases.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createPlainAudit } from '../../../test/support/plain-audit.ts';
import { createAgents } from './agents.ts';
import { agentOperations } from './operations.ts';
import { agentMigrations } from './store.ts';

const proof = { challenge: '', method: 'passphrase', keyId: '', signature: '' } as const;
const proofFacts = { key_id: '0123456789abcdef', method: 'passphrase' };

function contextOf(caller: Caller): OperationContext {
  const context = { caller, signal: new AbortController().signal, canProgress: false, progress: () => undefined };
  return caller.kind === 'operator' ? { ...context, proofFacts } : context;
}
const operator = contextOf({ kind: 'operator', proof });
const local = contextOf({ kind: 'local' });

/** As a person sees the output. */
function draw({ command }: Operation, output: unknown): string {
  const drawing = command?.draw as ((output: unknown) => string) | undefined;
  return drawing?.(output) ?? '';
}

async function bench(open: OpenDatabase, agentUrl?: string) {
  const db = await open();
  await db.migrate(agentMigrations);
  const audit = createPlainAudit(db);
  const clock = createFakeClock();
  const agents = await createAgents({ db, audit, clock, entropy: createEntropy(), digest: createDigest() });
  const operations = agentOperations({ agents, agentUrl: () => agentUrl });
  const find = (name: string): Operation => {
    const found = operations.find((operation) => operation.name === name);
    if (found === undefined) throw new Error(`no operation ${name}`);
    return found;
  };
  /** As the gateway runs it: both schemas hold. */
  const run = async (name: string, input: unknown, context: OperationContext): Promise<unknown> => {
    const operation = find(name);
    return operation.output.parse(await operation.run(operation.input.parse(input), context));
  };
  return { audit, agents, operations, find, run };
}

describeDatabases('operations on agents', (open) => {
  test('[AGENT-2] what lets an agent in or on, or gives it a token, is the operator’s; suspending and looking is not', async () => {
    const { operations } = await bench(open);
    expect(operations.map(({ name, access, effect, command }) => [name, access, effect, command?.words])).toEqual([
      ['agents.add', 'operator', 'change', 'agent add'],
      ['agents.list', 'local', 'look', 'agent ls'],
      ['agents.rotate', 'operator', 'change', 'agent rotate'],
      ['agents.suspend', 'local', 'change', 'agent suspend'],
      ['agents.unsuspend', 'operator', 'change', 'agent unsuspend'],
      ['agents.revoke', 'operator', 'change', 'agent revoke'],
      ['agents.remove', 'operator', 'change', 'agent rm'],
    ]);
    // None is a tool: an agent has no name for them (SEC-2).
    expect(operations.filter(({ tool }) => tool !== undefined)).toEqual([]);
  });

  test('[AGENT-1] adding answers with the token, once; listing never shows one', async () => {
    const { run, agents, audit } = await bench(open);
    const { agent, token } = (await run('agents.add', { name: 'kimi-code' }, operator)) as { agent: string; token: string };
    expect(agent).toBe('kimi-code');
    expect(agents.authenticate(token)?.name).toBe('kimi-code');
    const listed = await run('agents.list', {}, local);
    expect(listed).toEqual([{ name: 'kimi-code', state: 'active', created_at: '2026-01-01T00:00:00.000Z' }]);
    expect(audit.entries).toEqual([{ event: 'agent.added', actor: 'operator', facts: { agent: 'kimi-code', proof: proofFacts } }]);
  });

  test('the drawing of a new token has it ready to paste', async () => {
    const url = 'http://127.0.0.1:7077/mcp';
    const { run, find } = await bench(open, url);
    const output = (await run('agents.add', { name: 'a' }, operator)) as { token: string };
    const drawn = draw(find('agents.add'), output);
    expect(drawn).toContain(`\n  ${output.token}\n`);
    expect(drawn).toContain(`claude mcp add --transport http sallyport ${url} --header "Authorization: Bearer ${output.token}"`);
    const config = drawn.split('\n').find((line) => line.trim().startsWith('{'));
    expect(JSON.parse(config ?? '')).toEqual({
      mcpServers: { sallyport: { type: 'http', url, headers: { Authorization: `Bearer ${output.token}` } } },
    });
  });

  test('while no agent door is open the drawing of a new token says how it is sent', async () => {
    const { run, find } = await bench(open);
    await run('agents.add', { name: 'a' }, operator);
    const output = (await run('agents.rotate', { name: 'a' }, operator)) as { token: string };
    expect(output).not.toHaveProperty('agent_url');
    expect(draw(find('agents.rotate'), output)).toContain(`Authorization: Bearer ${output.token}`);
  });

  test('what a person signs is the agent as it stands; what cannot be done is said before anybody signs', async () => {
    const { find, agents, run } = await bench(open);
    const shown = (name: string, input: unknown): unknown => find(name).shown?.(input, local);
    expect(await shown('agents.add', { name: 'a' })).toEqual({ agent: 'a' });
    await run('agents.add', { name: 'a' }, operator);
    await expect(shown('agents.add', { name: 'a' })).rejects.toMatchObject({ code: 'agents.exists' });
    await run('agents.suspend', { name: 'a', reason: 'it wrote to prod' }, local);
    for (const name of ['agents.rotate', 'agents.revoke', 'agents.remove', 'agents.unsuspend']) {
      expect(await shown(name, { name: 'a' })).toEqual({
        agent: 'a',
        state: 'suspended',
        created_at: '2026-01-01T00:00:00.000Z',
        reason: 'it wrote to prod',
      });
      await expect(shown(name, { name: 'b' })).rejects.toMatchObject({ code: 'agents.not_found' });
    }
    expect(agents.get('a')?.state).toBe('suspended');
  });

  test('an agent goes through its states by command', async () => {
    const { run, agents, audit } = await bench(open);
    await run('agents.add', { name: 'a' }, operator);
    const states: (string | undefined)[] = [];
    for (const [name, context] of [
      ['agents.suspend', local],
      ['agents.unsuspend', operator],
      ['agents.rotate', operator],
      ['agents.revoke', operator],
      ['agents.remove', operator],
    ] as const) {
      await run(name, { name: 'a' }, context);
      states.push(agents.get('a')?.state);
    }
    expect(states).toEqual(['suspended', 'active', 'active', 'revoked', undefined]);
    expect(audit.entries.slice(1).map(({ event, actor }) => `${actor} ${event}`)).toEqual([
      'local agent.suspended',
      'operator agent.unsuspended',
      'operator agent.rotated',
      'operator agent.revoked',
      'operator agent.removed',
    ]);
  });

  test('bad input is refused by the schema', async () => {
    const { find } = await bench(open);
    for (const input of [{}, { name: 'A b' }, { name: 'a', extra: 1 }, { name: 1 }, null]) {
      expect(find('agents.add').input.safeParse(input).success).toBe(false);
    }
    for (const reason of ['', 'two\nlines', 'esc \u001b[2J', 'nul \u0000', 'x'.repeat(501)]) {
      expect(find('agents.suspend').input.safeParse({ name: 'a', reason }).success).toBe(false);
    }
  });
});
