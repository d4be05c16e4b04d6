// Decisions that nobody made: signed by another key, for something else, a second time, too late, or for another installation. Over
// the socket and over the human door, each is refused with one sentence, changes nothing, and its reason is on the record.
import { createServer } from 'node:net';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Proof } from '../../src/kernel/caller.ts';
import type { Statement } from '../../src/kernel/dispatch.ts';
import { possessionInput } from '../../src/features/operator/model.ts';
import { encodeBase64url } from '../../src/lib/base64url.ts';
import { createOperatorKeyFile } from '../../src/platform/operator-key.ts';
import { connectAgent, exchange } from '../support/agent-client.ts';
import { addAgent, addUpstream, openHouse, recorded, type House, type RunningDaemon } from '../support/running-daemon.ts';
import { createTestOperator } from '../support/test-operator.ts';

const policies = `version: 1
agents:
  coder:
    capabilities:
      - match: "fix:call:write_note"
        effect: ask
`;
const invalid = { kind: 'denied', code: 'operator.proof_invalid' };

async function scene(): Promise<{ house: House; daemon: RunningDaemon; approvals: [string, string] }> {
  const house = await openHouse({ policies });
  const daemon = await house.up();
  const token = await addAgent(house, daemon, 'coder');
  await addUpstream(house, daemon, 'fix', 'echo');
  const agent = await connectAgent(daemon.agent_url, token);
  for (const note of ['one', 'two']) await agent.call('fix__write_note', { note });
  await agent.close();
  const open = (await daemon.line.operate('approvals.list', {})) as { approval_id: string; args: { note: string } }[];
  const ids = ['one', 'two'].map((note) => open.find(({ args }) => args.note === note)?.approval_id ?? '');
  return { house, daemon, approvals: ids as [string, string] };
}

const reasons = async (daemon: RunningDaemon) =>
  (await recorded(daemon, 'operator.refused')).map(({ facts }) => facts?.['reason']).toReversed();
const open = async (daemon: RunningDaemon) => ((await daemon.line.operate('approvals.list', {})) as unknown[]).length;
const approve = 'approvals.approve';

test('[SEC-3] a statement signed for one decision does nothing for another, nor with another key, nor changed, nor twice', async () => {
  const { house, daemon, approvals } = await scene();
  const [one, two] = approvals;
  const impostor = createTestOperator();
  const prepare = (input: object): Promise<Statement> => daemon.line.prepare(approve, input);
  const tries: [string, () => Promise<unknown>][] = [
    ['foreign_key', async () => daemon.line.operate(approve, { id: one }, impostor.prove(await prepare({ id: one })))],
    [
      'bad_signature',
      async () =>
        daemon.line.operate(approve, { id: one }, { ...impostor.prove(await prepare({ id: one })), keyId: house.operator.keyId }),
    ],
    [
      'bad_signature',
      async () => {
        const statement = await prepare({ id: one });
        const longer = { ...statement, expiresAt: '2099-01-01T00:00:00.000Z' };
        return daemon.line.operate(approve, { id: one }, house.operator.prove(longer));
      },
    ],
    ['unknown_challenge', () => daemon.line.operate(approve, { id: one }, house.operator.prove(ownStatement(one)))],
    ['other_input', async () => daemon.line.operate(approve, { id: two }, house.operator.prove(await prepare({ id: one })))],
    [
      'other_operation',
      async () => daemon.line.operate('agents.add', { name: 'intruder' }, house.operator.prove(await prepare({ id: one }))),
    ],
  ];
  for (const [, attempt] of tries) await expect(attempt()).rejects.toMatchObject(invalid);
  expect(await open(daemon)).toBe(2);

  const statement = await prepare({ id: one });
  const proof = house.operator.prove(statement);
  const both = await Promise.allSettled([1, 2].map(() => daemon.line.operate(approve, { id: one }, proof)));
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(daemon.line.operate(approve, { id: one }, proof)).rejects.toMatchObject(invalid);
  expect(await open(daemon)).toBe(1);
  expect(await reasons(daemon)).toEqual([...tries.map(([reason]) => reason), 'replayed', 'replayed']);
});

/** Everything of a statement is right, but nobody was shown it: the challenge is the attacker's own. */
function ownStatement(id: string): Statement {
  return {
    v: 1,
    purpose: 'sallyport/operator-statement',
    installation: '00000000-0000-4000-8000-000000000000',
    operation: approve,
    input: { id },
    shown: {},
    challenge: 'x'.repeat(43),
    issuedAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
  };
}

test('[SEC-3] what was prepared before a restart, and what another installation had signed, is void', async () => {
  const { house, daemon, approvals } = await scene();
  const [id] = approvals;
  const stale = house.operator.prove(await daemon.line.prepare(approve, { id }));
  await daemon.stop();
  const again = await house.up();
  await expect(again.line.operate(approve, { id }, stale)).rejects.toMatchObject(invalid);

  const elsewhere = await openHouse({ policies });
  const other = await elsewhere.up();
  const foreign = elsewhere.operator.prove(await other.line.prepare('agents.add', { name: 'intruder' }));
  await expect(again.line.operate('agents.add', { name: 'intruder' }, foreign)).rejects.toMatchObject(invalid);
  expect(await open(again)).toBe(2);
  expect(await reasons(again)).toEqual(['unknown_challenge', 'unknown_challenge']);
});

test('[SEC-3] what a shown fact was changed to after the signature is not what was signed', async () => {
  const { house, daemon } = await scene();
  const statement = await daemon.line.prepare('agents.revoke', { name: 'coder' });
  await daemon.line.operate('agents.suspend', { name: 'coder' });
  const proof = house.operator.prove(statement);
  await expect(daemon.line.operate('agents.revoke', { name: 'coder' }, proof)).rejects.toMatchObject({ code: 'operator.changed' });
  expect((await recorded(daemon, 'operation.refused'))[0]).toMatchObject({
    facts: { operation: 'agents.revoke', code: 'operator.changed' },
  });
});

test('[SEC-3] the human door takes a proof once, and none that is forged', async () => {
  const { house, daemon, approvals } = await scene();
  const [id] = approvals;
  const post = async (proof?: Proof) => {
    const body = JSON.stringify({ input: { id }, ...(proof && { proof }) });
    const { host, port } = new URL(daemon.human_url);
    const answer = await exchange(`http://127.0.0.1:${port}/v1/operations/${approve}`, {
      headers: { host, 'content-type': 'application/json' },
      body,
    });
    return answer.status;
  };
  expect(await post()).toBe(401);
  expect(await post(createTestOperator().prove(await daemon.line.prepare(approve, { id })))).toBe(403);
  const proof = house.operator.prove(await daemon.line.prepare(approve, { id }));
  expect([await post(proof), await post(proof)]).toEqual([200, 403]);
  expect(await open(daemon)).toBe(1);
  expect(await reasons(daemon)).toEqual(['foreign_key', 'replayed']);
});

test('[SEC-1] [SEC-3] the seat cannot be taken a second time, and a key file of one’s own signs nothing', async () => {
  const house = await openHouse({ policies, seat: 'file' });
  const daemon = await house.up();
  const impostor = createTestOperator();
  const { installation } = (await daemon.line.operate('operator.status', {})) as { installation: string };
  const possession = encodeBase64url(impostor.signBytes(possessionInput(installation, impostor.publicKey)));
  const seat = { publicKey: impostor.publicKey, possession };
  await expect(daemon.line.operate('operator.create', seat)).rejects.toMatchObject({ code: 'operator.exists' });
  expect((await recorded(daemon, 'operator.refused'))[0]).toMatchObject({
    facts: { operation: 'operator.create', reason: 'seat_taken' },
  });

  const own = house.path('own');
  mkdirSync(own, { mode: 0o700 });
  await createOperatorKeyFile(`${own}/operator.json`, 'my own passphrase');
  writeFileSync(`${own}/passphrase`, 'my own passphrase\n', { mode: 0o600 });
  copyFileSync(`${own}/operator.json`, house.path('keys', 'operator.json'));
  const environment = { SALLYPORT_OPERATOR_PASSPHRASE_FILE: `${own}/passphrase` };
  const { code, stderr } = await house.shell(['agent', 'add', 'intruder'], environment);
  expect([code, stderr]).toEqual([1, expect.stringContaining('no valid signature of the operator')]);
  expect((await recorded(daemon, 'operator.refused'))[0]).toMatchObject({
    facts: { operation: 'agents.add', reason: 'foreign_key' },
  });
  await daemon.stop();
  const again = await house.up(environment);
  expect((await house.shell(['agent', 'add', 'intruder'], environment)).code).toBe(1);
  expect(await again.line.operate('agents.list', {})).toEqual([]);
}, 60_000);

test('[SEC-3] what else listens on the daemon’s socket is no daemon: nothing is signed for it, and no start pushes it aside', async () => {
  const house = await openHouse({ policies, seat: 'file' });
  const daemon = await house.up();
  await daemon.stop();
  const heard: string[] = [];
  const fake = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      heard.push(chunk.toString());
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}');
    });
  });
  await new Promise<void>((resolve) => void fake.listen(daemon.socket, resolve));
  const { code, stderr } = await house.shell(['agent', 'add', 'x'], { SALLYPORT_OPERATOR_PASSPHRASE_FILE: house.passphraseFile });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/nothing was signed|does not answer like/)]);
  expect(heard.join('')).not.toContain('signature');
  const refused = await house.upAndEnd();
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is already running')]);
  await new Promise((resolve) => fake.close(resolve));
  await house.up();
}, 60_000);
