import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../../test/support/house-agent.ts';
import { putSecret } from '../../../../test/support/put-secret.ts';

const policies = `version: 1
agents:
  '*':
    capabilities:
      - { match: '*:*:*', effect: allow }
  careful:
    limits: { deny: ['vault:inject:prod_*'] }
    capabilities:
      - { match: 'fs:call:*', effect: allow }
  free:
    capabilities:
      - { match: 'vault:inject:*', effect: allow }
`;
const canary = 'S3cret-canary-7f0e1d';

let house: GatewayHouse;
let folder: string;
let agent: HouseAgent;
let place: string;

const put = (verb: 'add' | 'rotate', ref: string, text: string): Promise<void> => putSecret(house, verb, ref, text);

beforeEach(async () => {
  house = await openGatewayHouse({ policies });
  folder = mkdtempSync(join(tmpdir(), 'placed-'));
  await put('add', 'db_password', canary);
  await house.decide('placements.allow', { place: `${folder}/**` });
  agent = await house.agent();
  place = join(folder, 'config.toml');
}, 30_000);
afterEach(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const inject = (args: JsonObject, who = agent): Promise<JsonObject> => who.json('scopegate_inject_file', args);

function idOf({ approval_id: id }: JsonObject): string {
  if (typeof id !== 'string') throw new Error('nobody is asked');
  return id;
}

async function approved(args: JsonObject): Promise<JsonObject> {
  const id = idOf(await inject(args));
  await house.approve(id);
  return inject(args);
}

test('[FILE-1] a call asks a person in the pending shape, is signed with place, text and replaced file, and writes once with the same arguments', async () => {
  writeFileSync(place, 'before');
  const args = { ref: 'db_password', out: place, template: 'password = "{{secret}}"\n' };
  const first = await inject(args);
  expect(first).toMatchObject({ granted: false, status: 'pending_human_approval' });
  expect(first['instructions']).toContain(`scopegate approve ${idOf(first)}`);
  expect(readFileSync(place, 'utf8')).toBe('before');
  expect(await inject(args)).toMatchObject({ approval_id: first['approval_id'] });

  const { shown } = await house.prepare('approvals.approve', { id: first['approval_id'] });
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  expect(shown['arguments']).toEqual({
    ref: 'db_password',
    out: place,
    mode: '0600',
    template: args.template,
    template_sha256: sha(args.template),
    replaces_sha256: sha('before'),
    backup: `${place}.bak`,
  });
  await house.approve(idOf(first));

  // Another text or another place is another question.
  expect(await inject({ ...args, template: '{{secret}}' })).toMatchObject({ status: 'pending_human_approval' });
  expect(await inject({ ...args, out: `${place}2` })).toMatchObject({ status: 'pending_human_approval' });

  const content = `password = "${canary}"\n`;
  const note = `Written 0600 (previous file backed up to ${place}.bak). Re-run after rotation with: scopegate inject --refresh ${place}.`;
  expect(await inject(args)).toEqual({ materialized: true, out: place, sha256: sha(content), note });
  expect(readFileSync(place, 'utf8')).toBe(content);
  expect(readFileSync(`${place}.bak`, 'utf8')).toBe('before');
  for (const path of [place, `${place}.bak`, `${place}.scopegate.json`]) expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(['config.toml', 'config.toml.bak', 'config.toml.scopegate.json']);
  expect(await inject(args)).toMatchObject({ status: 'pending_human_approval' });
});

test('[FILE-1] another file at the place than the one that was shown makes it another question', async () => {
  writeFileSync(place, 'one');
  const args = { ref: 'db_password', out: place };
  const id = idOf(await inject(args));
  await house.approve(id);
  writeFileSync(place, 'edited since');
  const again = await inject(args);
  expect(again).toMatchObject({ status: 'pending_human_approval' });
  expect(again['approval_id']).not.toBe(id);
  expect(readFileSync(place, 'utf8')).toBe('edited since');
  await house.deny(idOf(again), 'not now');
  expect(await inject(args)).toMatchObject({ granted: false, status: 'denied', reason: 'A human denied this request: not now' });
});

test('[FILE-2] neither a grant that a person gave nor a rule that does not name vault:inject lifts the question; one that does, does', async () => {
  // Allowed, but by a rule for everything.
  expect(await inject({ ref: 'db_password', out: place })).toMatchObject({ status: 'pending_human_approval' });
  const free = await house.agent('free');
  expect(await inject({ ref: 'db_password', out: place }, free)).toMatchObject({ materialized: true });
  const careful = await house.agent('careful');
  await house.approve(await careful.ask('vault:inject:db_password'));
  expect(await careful.json('scopegate_can_i', { capability: 'vault:inject:db_password' })).toMatchObject({
    covered_by_existing_grant: true,
  });
  expect(await inject({ ref: 'db_password', out: place }, careful)).toMatchObject({ status: 'pending_human_approval' });
  expect(await inject({ ref: 'prod_unknown', out: place }, careful)).toMatchObject({ status: 'denied', code: 'ceiling_blocked' });
});

test('[FILE-3] W5: nothing is written outside the allowed places, into a home, through a link or over what is no plain file', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  writeFileSync(join(elsewhere, 'target'), 'mine');
  mkdirSync(join(folder, 'sub'));
  symlinkSync(elsewhere, join(folder, 'way'));
  symlinkSync(join(elsewhere, 'target'), join(folder, 'link'));
  linkSync(join(elsewhere, 'target'), join(folder, 'twin'));
  symlinkSync(house.home, join(folder, 'home'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  mkdirSync(join(folder, 'open'), { mode: 0o777 });
  execFileSync('chmod', ['0777', join(folder, 'open')]);
  const attempts: readonly [string, string][] = [
    [join(elsewhere, 'target'), 'placements.not_allowed'],
    [join(house.home, 'policies.yaml'), 'placements.not_allowed'],
    [`${folder}/sub/../../x`, 'placements.bad_place'],
    [`${folder}//x`, 'placements.bad_place'],
    ['config.toml', 'placements.bad_place'],
    [`${folder}/a\u202eb`, 'placements.bad_place'],
    ['/proc/self/environ', 'placements.bad_place'],
    [`${place}.scopegate.json`, 'placements.bad_place'],
    [join(folder, 'way', 'target'), 'placements.unsafe_place'],
    [join(folder, 'home', 'state.db'), 'placements.unsafe_place'],
    [join(folder, 'link'), 'placements.unsafe_place'],
    [join(folder, 'twin'), 'placements.unsafe_place'],
    [join(folder, 'pipe'), 'placements.unsafe_place'],
    [join(folder, 'sub'), 'placements.unsafe_place'],
    [join(folder, 'missing', 'x'), 'placements.unsafe_place'],
    [join(folder, 'open', 'x'), 'placements.unsafe_place'],
  ];
  for (const [out, code] of attempts) {
    const refusal = await agent.refusal('scopegate_inject_file', { ref: 'db_password', out });
    expect([out, refusal.code]).toEqual([out, code]);
  }
  expect(await house.open(agent)).toEqual([]);
  expect(readFileSync(join(elsewhere, 'target'), 'utf8')).toBe('mine');
  rmSync(elsewhere, { recursive: true });
});

test('[FILE-3] an operator who allows the home by mistake still gets no secret into it', async () => {
  await house.decide('placements.allow', { place: `${house.home}/**` });
  await house.decide('placements.allow', { place: `${homedir()}/**` });
  for (const name of ['policies.yaml', 'keys/operator.key', 'state.db', 'audit/x', 'run/y'])
    expect((await agent.refusal('scopegate_inject_file', { ref: 'db_password', out: join(house.home, name) })).code).toBe(
      'placements.unsafe_place',
    );
});

test('[FILE-3] a folder or file that is exchanged for a link after the approval is not written through', async () => {
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  const args = { ref: 'db_password', out: join(inner, 'x') };
  const id = idOf(await inject(args));
  await house.approve(id);
  renameSync(inner, join(folder, 'moved'));
  symlinkSync(house.home, inner);
  expect((await agent.refusal('scopegate_inject_file', args)).code).toBe('placements.unsafe_place');
  expect(existsSync(join(house.home, 'x'))).toBe(false);
});

test('[FILE-4] a template without its placeholder, with too many or too large is refused, and no request is put to a person', async () => {
  for (const template of ['no place', '{{secret}}'.repeat(17), `{{secret}}${'é'.repeat(32_768)}`])
    expect((await agent.reads('scopegate_inject_file', { ref: 'db_password', out: place, template })).text).toMatch(
      /^ERROR: The template/,
    );
  expect(
    (await agent.reads('scopegate_inject_file', { ref: 'db_password', out: place, template: 'x'.repeat(1 << 20) })).isError,
  ).toBe(true);
  writeFileSync(join(folder, 'big'), `{{secret}}${'x'.repeat(1 << 20)}`);
  const big = await agent.refusal('scopegate_inject_file', { ref: 'db_password', out: place, template_file: join(folder, 'big') });
  expect(big.code).toBe('placements.unsafe_place');
  const outside = await agent.refusal('scopegate_inject_file', { ref: 'db_password', out: place, template_file: '/etc/passwd' });
  expect(outside.code).toBe('placements.not_allowed');
  expect(await house.open(agent)).toEqual([]);
});

test('[FILE-4] the text of a template file is part of what is signed, and a change of it afterwards is another question', async () => {
  const templateFile = join(folder, 'template');
  writeFileSync(templateFile, 'a={{secret}}');
  const args = { ref: 'db_password', out: place, template_file: templateFile, template: 'ignored' };
  const id = idOf(await inject(args));
  await house.approve(id);
  writeFileSync(templateFile, 'b={{secret}}');
  const second = await inject(args);
  expect(second).toMatchObject({ status: 'pending_human_approval' });
  expect(second['approval_id']).not.toBe(id);
  writeFileSync(templateFile, 'a={{secret}}');
  expect(await inject(args)).toMatchObject({ materialized: true });
  expect(readFileSync(place, 'utf8')).toBe(`a=${canary}`);
});

test('[FILE-4] a value that says {{secret}} itself is written as it is', async () => {
  await put('add', 'odd', 'x{{secret}}y');
  expect(await approved({ ref: 'odd', out: place, template: '<{{secret}}|{{secret}}>' })).toMatchObject({ materialized: true });
  expect(readFileSync(place, 'utf8')).toBe('<x{{secret}}y|x{{secret}}y>');
});

test('[FILE-5] after a rotation a person refreshes the file, where sidecar and database agree, with a signature', async () => {
  await approved({ ref: 'db_password', out: place, template: 'p={{secret}}' });
  await put('rotate', 'db_password', 'second-value');
  expect(await house.local('placements.list')).toMatchObject([{ out: place, ref: 'db_password', version: 1, newest: false }]);
  await expect(house.local('placements.place', { refresh: place })).rejects.toMatchObject({ code: 'operator.proof_required' });

  const sidecar = readFileSync(`${place}.scopegate.json`, 'utf8');
  writeFileSync(`${place}.scopegate.json`, sidecar.replace('p={{secret}}', 'evil={{secret}}'));
  await expect(house.prepare('placements.place', { refresh: place })).rejects.toMatchObject({ code: 'placements.unrecorded' });
  writeFileSync(`${place}.scopegate.json`, sidecar);
  expect(await house.decide('placements.place', { refresh: place })).toMatchObject({ materialized: true });
  expect(readFileSync(place, 'utf8')).toBe('p=second-value');
  expect(await house.local('placements.list')).toMatchObject([{ version: 2, newest: true }]);
  await expect(house.prepare('placements.place', { refresh: `${place}x` })).rejects.toMatchObject({
    code: 'placements.unrecorded',
  });
});

test('[FILE-6] value and content stand nowhere but in the file: not in the record, the rows, the sidecar or an answer', async () => {
  const answer = await approved({ ref: 'db_password', out: place });
  const sha256 = createHash('sha256').update(canary).digest('hex');
  expect(answer['sha256']).toBe(sha256);
  await house.records();
  for (const text of [
    JSON.stringify(answer),
    house.recordText(),
    JSON.stringify(house.rows()),
    readFileSync(`${place}.scopegate.json`, 'utf8'),
  ])
    expect(text).not.toContain(canary);
  for (const text of [house.recordText(), JSON.stringify(house.rows()), readFileSync(`${place}.scopegate.json`, 'utf8')])
    expect(text).not.toContain(sha256);
  const [intent] = await house.records('call.intent');
  const [placed] = await house.records('secret.placed');
  expect(placed?.facts).toEqual({ ref: 'db_password', version: 1, intent: intent?.id });
  expect(Object.keys(placed?.sealed ?? {}).sort()).toEqual(['out', 'sha256', 'template']);
});
