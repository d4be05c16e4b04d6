// The running program on PostgreSQL instead of the embedded database: a governed call, a decision, kill -9, a restart, the record; and
// a second home that names the same database.
import { expect, test } from 'vitest';
import { connectAgent } from '../support/agent-client.ts';
import { describePostgres } from '../support/databases.ts';
import { addAgent, addUpstream, decide, openHouse, recorded } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  coder:
    capabilities:
      - match: "fix:call:echo"
        effect: allow
      - match: "fix:call:write_note"
        effect: ask
`;

describePostgres('the program', (open) => {
  test('[STORE-1] [STORE-3] serves, decides, survives kill -9 and keeps a second home off its database', async () => {
    const database = await open();
    await database.close();
    const settings = `version: 1\nstorage: ${JSON.stringify(database.url)}\n`;
    const house = await openHouse({ policies, settings });
    const daemon = await house.up();
    const token = await addAgent(house, daemon, 'coder');
    await addUpstream(house, daemon, 'fix', 'echo');
    const agent = await connectAgent(daemon.agent_url, token);
    expect((await agent.call('fix__echo', { message: 'hello' })).text).toBe('hello');
    const note = { note: 'on PostgreSQL' };
    const asked = await agent.call('fix__write_note', note);
    const id = /approve ([0-9a-f-]{36})/.exec(asked.text)?.[1] ?? '';
    await decide(house, daemon, 'approvals.approve', { id });

    const rival = await openHouse({ policies, settings });
    const refused = await rival.upAndEnd();
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/platform\.locked|in use|another/);
    expect(refused.stderr).not.toContain('unexpected');

    await daemon.kill();
    const again = await house.up();
    const back = await connectAgent(again.agent_url, token);
    expect((await back.call('fix__write_note', note)).text).toBe('noted on PostgreSQL');
    expect((await back.call('fix__write_note', note)).isError).toBe(true);
    expect(await again.line.operate('audit.verify', {})).toMatchObject({ ok: true });
    expect(await recorded(again, 'approval.used')).toHaveLength(1);
    await back.close();
    agent.drop();
    expect(await again.stop()).toBe(0);
    expect((await house.shell(['audit', 'verify'])).code).toBe(0);
  }, 60_000);

  test('[SEC-1] a row written beside the daemon locks its start', async () => {
    const database = await open();
    const house = await openHouse({ policies, settings: `storage: ${JSON.stringify(database.url)}\n` });
    const daemon = await house.up();
    await addAgent(house, daemon, 'coder');
    await daemon.line.operate('agents.suspend', { name: 'coder' });
    await daemon.stop();
    await database.queries.updateTable('agents').set({ state: 'active' }).execute();
    const { code, stderr } = await house.upAndEnd();
    expect([code, stderr]).toEqual([1, expect.stringContaining('not the one on the record')]);
  }, 60_000);
});
