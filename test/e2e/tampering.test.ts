// Somebody who can write every file of the home, with the daemon down or running: database, record and keys. Each time the start is
// refused with a sentence that names what is wrong, or what was edited buys nothing and is on the record.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { connectAgent } from '../support/agent-client.ts';
import {
  addAgent,
  addUpstream,
  decide,
  openHouse,
  recorded,
  until,
  type House,
  type RunningDaemon,
} from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  coder:
    capabilities:
      - match: "fix:call:echo"
        effect: allow
      - match: "fix:call:{write_note,add}"
        effect: ask
`;

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly token: string;
  /** Of a call that was approved and not made yet. */
  readonly approved: string;
}

/** Two agents, one suspended; an upstream; a call that was approved. */
async function scene(): Promise<Scene> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addAgent(house, daemon, 'held');
  await addUpstream(house, daemon, 'fix', 'echo');
  const agent = await connectAgent(daemon.agent_url, token);
  for (const note of ['spent', 'approved']) {
    await agent.call('fix__write_note', { note });
    const [open] = (await daemon.line.operate('approvals.list', {})) as { approval_id: string }[];
    await decide(house, daemon, 'approvals.approve', { id: open?.approval_id ?? '' });
  }
  await agent.call('fix__write_note', { note: 'spent' });
  await agent.close();
  await daemon.line.operate('agents.suspend', { name: 'held' });
  return { house, daemon, token, approved: 'approved' };
}

function sql(house: House, ...statements: string[]): void {
  const database = new DatabaseSync(house.path('state.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const soon = (): number => Date.now() + 3_600_000;
const wider = `${policies}      - match: "*:call:*"\n        effect: allow\n`;

const rowEdits: [string, (house: House) => void][] = [
  [
    'an agent of one’s own',
    (house) => sql(house, `insert into agents values ('mine','${hash('x')}','active','2026-01-01T00:00:00.000Z',null,null)`),
  ],
  ['another token for an agent', (house) => sql(house, `update agents set token_hash='${hash('y')}' where name='coder'`)],
  ['an agent unsuspended', (house) => sql(house, `update agents set state='active' where name='held'`)],
  [
    'a wider policy with its hash',
    (house) => {
      writeFileSync(house.path('policies.yaml'), wider);
      sql(house, `update policy_in_force set text='${wider}', version='${hash(wider)}'`);
    },
  ],
  ['no policy row', (house) => sql(house, 'delete from policy_in_force')],
  ['no operator', (house) => sql(house, 'delete from operator_key')],
  [
    'another operator',
    (house) => sql(house, `update operator_key set key_id='${hash('').slice(0, 16)}', public_key='${'A'.repeat(43)}'`),
  ],
  [
    'a grant a person seems to have given',
    (house) => {
      const columns = 'id, agent, capability, origin, rule, approval_id, granted_at, expires_at, ttl_ms';
      const values = `'11111111-1111-4111-8111-111111111111','coder','fix:call:write_note','human','fix:call:write_note','x',${soon() - 3_600_000},${soon()},3600000`;
      sql(house, `insert into grants_grant (${columns}) values (${values})`);
    },
  ],
  [
    'a longer life for a grant',
    (house) => sql(house, `update approvals_approval set usable_until=${soon() * 2} where used_at is null`),
  ],
  ['an approval to be spent again', (house) => sql(house, 'update approvals_approval set used_at=null where used_at is not null')],
  [
    'an acceptance of another command',
    (house) => sql(house, `update fleet_accepted set spec_digest='${hash('x')}' where upstream='fix'`),
  ],
  ['an upstream that pins anew', (house) => sql(house, 'delete from fleet_pin_set')],
  [
    'a trigger that will ride along the next change',
    (house) =>
      sql(
        house,
        `create trigger more after insert on agents when new.name <> 'mine' begin insert into agents values ('mine','${hash('z')}','active','2026-01-01T00:00:00.000Z',null,null); end`,
      ),
  ],
  ['another accepted definition', (house) => sql(house, `update fleet_pin set hash='${hash('x')}' where tool='add'`)],
];

test('[SEC-1] a row edited while the daemon is down locks the start, which says so', async () => {
  const { house, daemon } = await scene();
  await daemon.stop();
  copyFileSync(house.path('state.db'), house.path('copy'));
  for (const [, edit] of rowEdits) {
    edit(house);
    const { code, stderr } = await house.upAndEnd();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/The state in the database is not the one on the record|a trigger, a rule or a view/),
    ]);
    copyFileSync(house.path('copy'), house.path('state.db'));
    writeFileSync(house.path('policies.yaml'), policies);
  }
  const again = await house.up();
  expect(await again.line.operate('audit.verify', {})).toMatchObject({ ok: true });
}, 90_000);

test('[SEC-1] an older copy of the database, from before a suspension, locks the start', async () => {
  const { house, daemon } = await scene();
  await decide(house, daemon, 'agents.unsuspend', { name: 'held' });
  await daemon.stop();
  copyFileSync(house.path('state.db'), house.path('before'));
  const second = await house.up();
  await second.line.operate('agents.suspend', { name: 'held' });
  await second.stop();
  copyFileSync(house.path('before'), house.path('state.db'));
  expect((await house.upAndEnd()).stderr).toContain('an older copy was put in their place');
});

test('[SEC-1] rows edited under a running daemon buy nothing, block every change, and that is on the record', async () => {
  const { house, daemon, token } = await scene();
  for (const [, edit] of rowEdits.slice(0, 4)) edit(house);
  const agent = await connectAgent(daemon.agent_url, token);
  expect(await agent.call('fix__pid')).toMatchObject({ isError: true });
  await expect(decide(house, daemon, 'agents.add', { name: 'more' })).rejects.toMatchObject({ code: 'audit.locked' });
  expect(await recorded(daemon, 'rights.edited')).toHaveLength(1);
  const names = ((await daemon.line.operate('agents.list', {})) as { name: string; state: string }[]).map(({ name, state }) => [
    name,
    state,
  ]);
  expect(names).toEqual([
    ['coder', 'active'],
    ['held', 'suspended'],
  ]);
  await agent.close();
});

test('[SEC-1] a stored tool definition that is not the one of its hash is not served', async () => {
  const { house, daemon, token } = await scene();
  await daemon.stop();
  sql(house, `update fleet_pin set definition=replace(definition, '"destructiveHint":true', '"readOnlyHint":true')`);
  const again = await house.up();
  const agent = await connectAgent(again.agent_url, token);
  const answer = async (): Promise<string> => (await agent.call('fix__write_note', { note: 'x' })).text;
  expect(await answer()).not.toContain('Approval request');
  await until(async () => (await answer()).includes('waits for a human'), 'it is quarantined');
  await agent.close();
});

describe('the record and its keys', () => {
  const segment = (house: House): string =>
    house.path('audit', 'segments', readdirSync(house.path('audit', 'segments')).at(-1) ?? '');
  const edits: [string, (house: House) => void, RegExp][] = [
    ['the database deleted', (house) => rmSync(house.path('state.db')), /belongs to .* but this installation’s key/],
    [
      'the log cut short',
      (house) => truncateSync(segment(house), readFileSync(segment(house)).length - 400),
      /were cut off or damaged/,
    ],
    ['the log emptied', (house) => rmSync(house.path('audit'), { recursive: true }), /the log was cut or an older copy/],
    ['the key of the log swapped', (house) => rmSync(house.path('keys', 'log.key')), /belongs to .* but this installation’s key/],
    ['the salt swapped', (house) => rmSync(house.path('keys', 'log-salt.key')), /salt key is not the one|resume hint/],
    ['a draft of a decision slipped in', (house) => sql(house, draft), /was not written by this installation/],
  ];
  const draft = `insert into audit_outbox select origin, 999, 'x', 1, '{"id":"x","actor":"operator","event":"approval.approved"}' from audit_anchor`;

  test('[SEC-1] [AUD-6] each edit of them is refused at the start, with what was found', async () => {
    const { house, daemon } = await scene();
    await daemon.stop();
    cpSync(house.home, `${house.folder}/copy`, { recursive: true });
    for (const [, edit, words] of edits) {
      edit(house);
      const { code, stderr } = await house.upAndEnd();
      expect([code, stderr]).toEqual([1, expect.stringMatching(words)]);
      expect(stderr).toContain('"hint"');
      expect(house.processes()).toEqual([]);
      rmSync(house.home, { recursive: true });
      cpSync(`${house.folder}/copy`, house.home, { recursive: true });
    }
    await house.up();
  }, 60_000);
});
