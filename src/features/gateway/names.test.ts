// What agents call tools by, with real upstreams: every listed name reaches its own tool, and policy, approvals and refusals speak of it
// by its real one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import { createDigest } from '../../platform/crypto.ts';
import { usualNaming } from '../fleet/model.ts';
import { assignNames } from '../fleet/tool-names.ts';

const server = 'company-wide-document-management-service';
const longTool = 'create_or_update_document_with_attachmen';
const secretTool = `read_the_private_correspondence_of_the_board_${'x'.repeat(20)}`;
const exactTool = `delete_the_private_correspondence_of_the_board_${'z'.repeat(20)}`;
const shyTool = `changes_its_definition_after_it_was_accepted_${'y'.repeat(20)}`;
const shortOf = (upstream: string, tool: string): string =>
  [...assignNames([{ upstream, tool }], usualNaming, createDigest()).values()][0] ?? '';

const policies = `
version: 1
limits: { rate_limit: 1000/s, deny: ['one:call:read_the_private_*', 'one:call:${exactTool}', 'two:call:hidden'] }
agents:
  '*':
    capabilities:
      - { match: '${server}:call:*', effect: ask }
      - { match: '*:call:*', effect: allow }
`;

let folder = '';
let house: GatewayHouse;
let kimi: HouseAgent;
const definition = (description: string): string =>
  JSON.stringify([{ name: shyTool, description, inputSchema: { type: 'object' } }]);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-names-'));
  writeFileSync(join(folder, 'shy.json'), definition('before'));
  house = await openGatewayHouse({
    policies,
    upstreams: {
      one: ['tools', 'search', 'Search', 'repos/list', 'a.b', secretTool, exactTool],
      two: ['tools', 'search', 'hidden'],
      shy: ['definitions', join(folder, 'shy.json')],
      [server]: ['tools', longTool],
    },
  });
  kimi = await house.agent();
});
afterAll(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const proxied = (agent: HouseAgent): string[] => agent.toolNames().filter((name) => name.includes('__'));

describe('[NAME-5] [NAME-2] with two servers that expose search, one of them twice', () => {
  test('every listed name is one of its own, fits a model API, and reaches its tool', async () => {
    const names = proxied(kimi).filter((name) => !name.startsWith('company') && !name.startsWith('shy'));
    expect(names).toEqual(['one__Search__a5ce6304', 'one__a.b', 'one__repos_list__0a7ce9a3', 'one__search', 'two__search']);
    const reached = await Promise.all(names.map((name) => kimi.text(name)));
    expect(reached).toEqual(['I am Search', 'I am a.b', 'I am repos/list', 'I am search', 'I am search']);
  });

  test.each(['one__search', 'one__Search', 'one__repos/list', 'one__a.b', 'two__search'])(
    'the full name %s works as well',
    async (name) => expect(await kimi.text(name)).toBe(`I am ${name.slice('one__'.length)}`),
  );

  test('letter case is not guessed', async () => {
    expect((await kimi.refusal('one__SEARCH')).code).toBe('gateway.unknown_tool');
    expect((await kimi.refusal('ONE__search')).code).toBe('gateway.unknown_tool');
  });
});

describe('[NAME-5] [NAME-1] a tool of 40 characters on a server of 40', () => {
  const name = shortOf(server, longTool);

  test('is listed within 64 characters, and its refusal and approval show the real name', async () => {
    expect(proxied(kimi)).toContain(name);
    expect(name).toHaveLength(64);
    const refused = await kimi.refusal(name, { a: '1' });
    expect(refused).toMatchObject({ code: 'approvals.pending' });
    expect(refused.message).toContain(`Capability '${server}:call:${longTool}' not granted.`);
    const id = refused.data?.['approval_id'] as string;
    const { shown } = await house.prepare('approvals.approve', { id });
    expect(JSON.stringify(shown)).toContain(`${server}:call:${longTool}`);
    expect(JSON.stringify(shown)).not.toContain(name);
    // What was approved is the tool: the other name of it buys nothing more and nothing less.
    await house.decide('approvals.approve', { id });
    expect(await kimi.text(`${server}__${longTool}`, { a: '1' })).toBe(`I am ${longTool}`);
    expect((await kimi.refusal(name, { a: '1' })).code).toBe('approvals.pending');
  });
});

describe('[NAME-5] a tool that a deny covers', () => {
  test.each([
    ['by its exact name', exactTool, 'ERROR: Unknown tool'],
    ['by a pattern', secretTool, '"kind": "policy_denied"'],
  ])('%s is in no list, and its short form says no more than one that was made up', async (_how, tool, words) => {
    const real = shortOf('one', tool);
    const madeUp = `${real.slice(0, -8)}00000000`;
    expect(kimi.toolNames()).not.toContain(real);
    const [told, other] = [await kimi.reads(real), await kimi.reads(madeUp)];
    expect(told.text).toContain(words);
    expect(told.text).not.toContain(tool);
    expect(other.text).toBe(told.text.replaceAll(real.slice(-8), madeUp.slice(-8)));
  });

  test('answers policy_denied by its full name, whether or not it exists', async () => {
    for (const name of [secretTool, `${secretTool}z`, exactTool]) {
      expect(await kimi.refusal(`one__${name}`)).toMatchObject({ code: 'policy.denied' });
    }
  });
});

test('[NAME-5] a shortened tool whose definition changed is refused by its real name', async () => {
  const name = shortOf('shy', shyTool);
  expect(await kimi.text(name)).toBe(`I am ${shyTool}`);
  writeFileSync(join(folder, 'shy.json'), definition('after'));
  await kimi.json('scopegate_diagnose');
  expect(proxied(kimi)).not.toContain(name);
  const refused = await kimi.refusal(name);
  expect(refused).toMatchObject({ code: 'fleet.quarantined' });
  expect(refused.message).toContain(`'shy__${shyTool}'`);
});

describe('[NAME-8] the endpoint of one upstream', () => {
  const scope = { kind: 'upstream', upstream: 'one' } as const;

  test('lists what the upstream calls its tools, without those a deny covers, and reaches them', async () => {
    const names = kimi.toolNames(scope);
    expect(names.toSorted()).toEqual(['Search', 'a.b', 'repos/list', 'search']);
    for (const name of names) expect(await kimi.text(name, {}, { scope })).toBe(`I am ${name}`);
  });

  test('has the same policy, and knows neither other upstreams nor own tools nor prefixed names', async () => {
    expect(await kimi.refusal(secretTool, {}, { scope })).toMatchObject({ code: 'policy.denied' });
    expect(await kimi.refusal('hidden', {}, { scope: { kind: 'upstream', upstream: 'two' } })).toMatchObject({
      code: 'policy.denied',
    });
    for (const name of ['one__search', 'two__search', 'scopegate_can_i', shortOf('one', 'repos/list')]) {
      expect(await kimi.refusal(name, {}, { scope })).toMatchObject({ code: 'gateway.unknown_tool' });
    }
    const asked = await kimi.refusal(longTool, {}, { scope: { kind: 'upstream', upstream: server } });
    expect(asked).toMatchObject({ code: 'approvals.pending' });
  });

  test('of a name nobody has is empty', async () => {
    const nowhere = { kind: 'upstream', upstream: 'nowhere' } as const;
    expect(kimi.toolNames(nowhere)).toEqual([]);
    expect(await kimi.refusal('search', {}, { scope: nowhere })).toMatchObject({ code: 'gateway.unknown_tool' });
  });
});

test('[NAME-3] under safe naming no listed name has a dot, and each reaches its own tool', async () => {
  const safe = await openGatewayHouse({
    policies,
    naming: { style: 'safe', longest: 48 },
    upstreams: { up: ['tools', 'a.b', 'a_b', 'c.d', 'x'.repeat(60)] },
  });
  try {
    const agent = await safe.agent();
    const names = agent.toolNames();
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,48}$/);
    const reached = await Promise.all(proxied(agent).map(async (name) => [name, await agent.text(name)]));
    expect(Object.fromEntries(reached)).toMatchObject({ up__a_b: 'I am a_b', up__c_d: 'I am c.d' });
    expect(new Set(reached.map(([, text]) => text)).size).toBe(4);
    expect(await agent.text('up__a.b')).toBe('I am a.b');
  } finally {
    await safe.close();
  }
});
