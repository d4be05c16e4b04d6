// A shell of the same user that has every file of the home but no passphrase: it asks at the command line, at the socket and by
// editing files, with the daemon running and while it is down. Each attempt is refused, changes nothing and is on the record.
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { AppError } from '../../src/kernel/errors.ts';
import { connectAgent } from '../support/agent-client.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
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
      - match: "fix:call:write_note"
        effect: ask
      - match: "fix:call:{echo,flip,target}"
        effect: allow
`;

interface Scene {
  readonly house: House;
  readonly daemon: RunningDaemon;
  readonly token: string;
  readonly approval: string;
}

/** An agent with a question open, one that is suspended, an upstream, and one in the file that nobody accepted. */
async function scene(): Promise<Scene> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addAgent(house, daemon, 'held');
  await daemon.line.operate('agents.suspend', { name: 'held' });
  await addUpstream(house, daemon, 'fix', 'echo');
  const agent = await connectAgent(daemon.agent_url, token);
  await agent.call('fix__write_note', { note: 'let me' });
  await agent.close();
  const [open] = (await daemon.line.operate('approvals.list', {})) as { approval_id: string }[];
  return { house, daemon, token, approval: open?.approval_id ?? '' };
}

const what = async ({ line }: RunningDaemon) => ({
  agents: await line.operate('agents.list', {}),
  approvals: await line.operate('approvals.list', {}),
  upstreams: ((await line.operate('fleet.list', {})) as { name: string; state: string }[]).map(({ name, state }) => [name, state]),
  grants: await line.operate('grants.survey', {}),
  operator: await line.operate('operator.status', {}),
});

const commitment = 'A'.repeat(43);
const someSlot = '6f9619ff-8b86-4011-b42d-00c04fc964ff';

/** Every decision there is, as somebody would try it; at the command line where its command asks for nothing but its arguments. */
const attempts = (approval: string): [string, object, string[]?][] => [
  ['approvals.approve', { id: approval }, ['approve', approval]],
  ['approvals.deny', { id: approval, reason: 'mine' }, ['deny', approval, '--reason', 'mine']],
  ['agents.add', { name: 'intruder' }, ['agent', 'add', 'intruder']],
  ['agents.rotate', { name: 'coder' }, ['agent', 'rotate', 'coder']],
  ['agents.unsuspend', { name: 'held' }, ['agent', 'unsuspend', 'held']],
  ['agents.revoke', { name: 'coder' }, ['agent', 'revoke', 'coder']],
  ['agents.remove', { name: 'held' }, ['agent', 'rm', 'held']],
  ['fleet.add', { name: 'shell', run: ['sh', '-c', 'id'] }, ['upstream', 'add', 'shell', '--', 'sh', '-c', 'id']],
  ['fleet.accept', { name: 'fix' }, ['upstream', 'accept', 'fix']],
  ['fleet.remove', { name: 'fix' }, ['upstream', 'rm', 'fix']],
  ['fleet.accept-tools', { upstream: 'fix', all: true }, ['tools', 'accept', 'fix', '--all']],
  ['policy.adopt', {}, ['policies', 'adopt']],
  ['policy.accept', { n: 1 }],
  ['policy.reject', { n: 1, reason: 'mine' }],
  ['registry.update', {}],
  ['vault.init', { kind: 'key_file' }],
  ['vault.add-secret', { ref: 'loot', size: 64, value_commitment: commitment }],
  ['vault.rotate-secret', { ref: 'loot', size: 64, value_commitment: commitment }],
  ['vault.remove-secret', { ref: 'loot' }],
  ['vault.add-slot', { kind: 'key_file' }],
  ['vault.remove-slot', { id: someSlot }],
  ['vault.rotate-key', {}],
  ['vault.recover', { slot: someSlot, key_commitment: commitment, new_key_commitment: commitment }],
  [
    'auth.login',
    { upstream: 'fix', issuer: 'https://login.example', client: 'mine', scopes: [], size: 64, login_commitment: commitment },
  ],
  ['placements.place', { ref: 'loot', out: '/tmp/loot' }],
  ['placements.allow', { place: '/tmp/**' }],
  ['git.allow', { account: 'github.com/them', app_id: '1', installation_id: '2', secret_ref: 'loot' }],
  ['defences.plant', { name: 'decoy' }],
  ['defences.list-decoys', {}],
  ['defences.take-in', { name: 'decoy' }],
  ['defences.discard', {}],
  ['defences.set', { taint: 'off' }, ['defences', 'set', '--taint', 'off']],
  ['defences.set-effect', { upstream: 'fix', tool: 'echo', effect: 'read' }],
  ['defences.clear-taint', { agent: 'coder' }],
];

test('[SEC-1] every decision there is, tried at the socket without a signature, is refused, recorded and changes nothing', async () => {
  const { daemon, approval } = await scene();
  const before = await what(daemon);
  const { operations } = JSON.parse(await get(daemon.socket, '/v1/operations')) as {
    operations: { name: string; access: string }[];
  };
  const decisions = operations.filter(({ access }) => access === 'operator').map(({ name }) => name);
  expect(
    attempts(approval)
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(decisions.toSorted());
  for (const [name, input] of attempts(approval)) {
    await expect(daemon.line.operate(name, input)).rejects.toMatchObject({ kind: 'denied', code: 'operator.proof_required' });
  }
  expect(await what(daemon)).toEqual(before);
  await recordedOnce(daemon, decisions);
});

test('[SEC-1] the same at the command line, without a terminal, a passphrase or a file of one', async () => {
  const { house, daemon, approval } = await scene();
  const before = await what(daemon);
  const typed = attempts(approval).flatMap(([name, , args]) => (args === undefined ? [] : [{ name, args }]));
  const said = await Promise.all(typed.map(async ({ name, args }) => [name, await house.shell(args)] as const));
  for (const [name, { code, stderr }] of said)
    expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining('passphrase')]);
  expect(await what(daemon)).toEqual(before);
  await recordedOnce(
    daemon,
    typed.map(({ name }) => name),
  );
}, 60_000);

test('[SEC-1] a wider policy file waits for a signature, hot and over a restart; its author is not served', async () => {
  const { house, daemon, token } = await scene();
  const wider = `${policies}      - match: "*:call:*"\n        effect: allow\n`;
  writeFileSync(house.path('policies.yaml'), wider);
  await until(async () => (await recorded(daemon, 'policy.refused')).length > 0, 'the edit is refused on the record');
  expect((await recorded(daemon, 'policy.refused'))[0]).toMatchObject({ actor: 'daemon', facts: { reason: 'waiting' } });
  const note = { note: 'let me' };
  await expect(callOnce(daemon, token, 'fix__pid', note)).resolves.toMatch(/not granted/);
  await daemon.stop();
  const again = await house.up();
  await expect(callOnce(again, token, 'fix__pid', note)).resolves.toMatch(/not granted/);
  await expect(callOnce(again, token, 'fix__echo', { message: 'still' })).resolves.toBe('still');
  expect(await again.line.operate('policy.check', {})).toMatchObject({ ok: false, state: 'waiting' });
});

const settingsEdits: [string, (text: string, folder: string) => string][] = [
  ['a new upstream', (text, folder) => `${text}  - ${JSON.stringify(entry('evil', ['sh', '-c', `touch ${folder}/pwned`]))}\n`],
  ['another command', (text, folder) => text.replace(/command: .*/, `command: ${folder}/evil.sh`)],
  ['one more argument', (text) => text.replace('- echo', '- echo\n        - more')],
  [
    'a variable that loads code',
    (text, folder) => text.replace(/( +)transport:/, `$1env: {NODE_OPTIONS: "--require ${folder}/evil.cjs"}\n$1transport:`),
  ],
  ['another working directory', (text, folder) => text.replace('kind: stdio', `kind: stdio\n      cwd: ${folder}`)],
];

test('[SEC-1] [FLEET-9] what nobody accepted does not start from sallyport.yaml, hot and over a restart', async () => {
  const { house, daemon } = await scene();
  const path = house.path('sallyport.yaml');
  const text = readFileSync(path, 'utf8');
  writeFileSync(`${house.folder}/evil.sh`, `#!/bin/sh\ntouch ${house.folder}/pwned\n`, { mode: 0o755 });
  writeFileSync(`${house.folder}/evil.cjs`, `require('node:fs').writeFileSync('${house.folder}/pwned', '')`);
  const unaccepted = async ({ line }: RunningDaemon): Promise<number> =>
    ((await line.operate('fleet.list', {})) as { state: string }[]).filter(({ state }) => state === 'unaccepted').length;
  for (const [at, [, edit]] of settingsEdits.entries()) {
    const edited = edit(text, house.folder);
    expect(edited).not.toBe(text);
    writeFileSync(path, edited);
    await until(async () => (await recorded(daemon, 'upstream.unaccepted')).length === at + 1, 'it is on the record');
    expect(await unaccepted(daemon)).toBe(1);
    writeFileSync(path, text);
    await until(async () => (await unaccepted(daemon)) === 0, 'the file is as it was');
  }
  await daemon.stop();
  const all = settingsEdits.slice(0, 2).reduce((edited, [, edit]) => edit(edited, house.folder), text);
  writeFileSync(path, all);
  const again = await house.up();
  expect(await unaccepted(again)).toBe(2);
  expect(existsSync(`${house.folder}/pwned`)).toBe(false);
}, 40_000);

test('[POL-8] a policy narrowed while the daemon is down is in force at the next start', async () => {
  const { house, daemon, token } = await scene();
  await daemon.stop();
  writeFileSync(house.path('policies.yaml'), policies.replace('{echo,flip,target}', 'target'));
  const again = await house.up();
  expect(await again.line.operate('policy.check', {})).toMatchObject({ state: 'in_force' });
  expect(await callOnce(again, token, 'fix__echo', { message: 'x' })).toMatch(/not granted/);
  expect(await recorded(again, 'policy.narrowed')).toHaveLength(1);
});

test('[SEC-1] more tools than were accepted to be exposed are not', async () => {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  const input = { name: 'fix', run: fixtureCommand('echo'), expose: ['pid'] };
  await decide(house, daemon, 'fleet.add', input);
  const text = readFileSync(house.path('sallyport.yaml'), 'utf8');
  writeFileSync(house.path('sallyport.yaml'), text.replace('- pid', '- pid\n      - echo'));
  await until(async () => (await recorded(daemon, 'upstream.unaccepted')).length === 1, 'it is on the record');
  expect(await callOnce(daemon, token, 'fix__echo', { message: 'x' })).not.toBe('x');
});

const entry = (name: string, [command, ...args]: string[]) => ({ name, transport: { kind: 'stdio', command, args } });

/** One record for each; refusals beyond ten a second are counted in a record of their own when the second is over. */
async function recordedOnce(daemon: RunningDaemon, operations: readonly string[]): Promise<void> {
  const named = new Set<unknown>();
  await until(async () => {
    const records = await recorded(daemon, 'operation.refused');
    const single = records.filter(({ facts }) => facts?.['operation'] !== undefined);
    expect(single.every(({ actor, facts }) => actor === 'local' && facts?.['code'] === 'operator.proof_required')).toBe(true);
    for (const { facts } of single) named.add(facts?.['operation']);
    const counted = records.reduce((sum, { facts }) => sum + Number(facts?.['unrecorded'] ?? 0), 0);
    return single.length + counted === operations.length;
  }, 'every attempt is on the record');
  expect(operations).toEqual(expect.arrayContaining([...named]));
}

async function callOnce(daemon: RunningDaemon, token: string, tool: string, args: object): Promise<string> {
  const agent = await connectAgent(daemon.agent_url, token);
  try {
    return (await agent.call(tool, args)).text;
  } finally {
    await agent.close();
  }
}

function get(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve(text));
    })
      .on('error', (error) => reject(new AppError('unavailable', 'test.socket', error.message)))
      .end();
  });
}
