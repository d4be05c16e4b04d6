// Canaries in every kind of secret that is handed out, upstreams that say them in every way they can, and one question: where can any of
// them be read? Real program, real files, before and after each value is changed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spokenWays } from '../fixtures/spoken-ways.ts';
import { connectAgent, exchange, type AgentClient } from '../support/agent-client.ts';
import { argumentsOfAll, everyByte, traces } from '../support/canary-search.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { allReady, repeater } from '../support/repeater.ts';
import { openHouse, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = 'version: 1\nagents:\n  "*":\n    capabilities:\n      - match: "*:call:*"\n        effect: allow\n';

/** Two values of each kind; `core` is the part that no coding rule of its own touches. */
const kinds = {
  web_token: ['cAnArYweb/one+7f21==', 'cAnArYweb/two+98ab'],
  key_header: ['cAnArYhdr.one~"31c8', 'cAnArYhdr.two~"77de'],
  env_token: ['cAnArYenv one "5d0a"', 'cAnArYenv two "c3f9"'],
  program_token: ['cAnArYarg-one-6c6c', 'cAnArYarg-two-4b1e'],
  pem_key: [pem('one'), pem('two')],
  signing_key: ['cAnArYjwt-one-0123456789abcdef01', 'cAnArYjwt-two-0123456789abcdef01'],
} as const;
type Kind = keyof typeof kinds;

function pem(which: string): string {
  return `-----BEGIN PRIVATE KEY-----\ncAnArYpem${which}0123456789ABCDEFabcdefGHIJ+/\nzYxWvU${which}cAnArYpemABCDEF0123456789+/ab\n-----END PRIVATE KEY-----`;
}

async function answers(agent: AgentClient): Promise<string[]> {
  const said: string[] = [];
  const ask = async (method: string, params: object): Promise<void> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: said.length + 1, method, params });
    said.push((await agent.send(body)).body);
  };
  const programs = ['env', 'program', 'pem'];
  for (const upstream of ['web', 'keyed', 'minted', ...programs])
    for (const way of Object.keys(spokenWays)) await ask('tools/call', { name: `${upstream}__say`, arguments: { way } });
  for (const upstream of ['web', 'keyed', 'minted'])
    for (const tool of ['refuse', 'status']) await ask('tools/call', { name: `${upstream}__${tool}` });
  for (const upstream of programs)
    for (const tool of ['refuse', 'progress', 'log', 'ask', 'crash', 'say'])
      await ask('tools/call', { name: `${upstream}__${tool}`, arguments: {}, _meta: { progressToken: 1 } });
  for (const tool of ['scopegate_diagnose', 'scopegate_upstream_health', 'scopegate_vault_status'])
    await ask('tools/call', { name: tool });
  await ask('tools/list', {});
  return said;
}

test('[REDACT-4] [INJECT-4] no value that is handed out can be read anywhere, before and after it is changed', async () => {
  const house = await openHouse({ policies, seat: 'file' });
  const [sent, keys, tokens] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [web, keyed, minted] = [
    await repeater('authorization', sent),
    await repeater('x-api-key', keys),
    await repeater('authorization', tokens),
  ];
  writeFileSync(house.path('sallyport.yaml'), settings({ web: web.url, keyed: keyed.url, minted: minted.url }));
  const daemon = await house.up();
  const heard: string[] = [];
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const ended = await house.shell(args, { SALLYPORT_OPERATOR_PASSPHRASE_FILE: house.passphraseFile }, input);
    heard.push(ended.stdout, ended.stderr);
    expect([args, ended.code, ended.stderr]).toEqual([args, 0, expect.any(String)]);
    return ended.stdout;
  };
  const put = async (verb: 'add' | 'rotate', round: 0 | 1): Promise<void> => {
    for (const kind of Object.keys(kinds) as Kind[]) await run(['secret', verb, kind], kinds[kind][round]);
  };

  await put('add', 0);
  for (const name of ['web', 'keyed', 'minted', 'env', 'program', 'pem']) await run(['upstream', 'accept', name]);
  const { token } = JSON.parse(await run(['agent', 'add', 'kimi', '--json'])) as { token: string };
  const agent = await connectAgent(daemon.agent_url, token);
  await allReady(daemon);
  const pidOf = async (): Promise<string> => (await agent.call('env__pid')).text;
  heard.push(...(await answers(agent)), argumentsOfAll());
  await allReady(daemon);
  const before = await pidOf();

  await put('rotate', 1);
  await until(async () => (await pidOf()) !== before, 'another process runs with the new value');
  await allReady(daemon);
  const after = await answers(agent);
  heard.push(...after, argumentsOfAll());
  await allReady(daemon);

  // The upstreams did get every value, both of each.
  expect([...sent]).toEqual([...kinds.web_token]);
  expect([...keys]).toEqual([...kinds.key_header]);
  expect(tokens.size).toBeGreaterThanOrEqual(4);
  expect(after.filter((text) => text.includes('[REDACTED:secret]')).length).toBeGreaterThan(60);

  heard.push(...(await looksOf(house, daemon, run)), daemon.stderr());
  await agent.close();
  await daemon.stop();
  const values = [...Object.values(kinds).flat(), ...tokens];
  expect(traces(heard.join('\n'), values)).toEqual([]);
  expect(traces(everyByte(house.folder), values)).toEqual([]);
}, 240_000);

function settings(urls: { readonly web: string; readonly keyed: string; readonly minted: string }): string {
  const http = (url: string): object => ({ kind: 'http', url });
  const stdio = (...behaviour: [string, ...string[]]): object => {
    const [command, ...args] = fixtureCommand(...behaviour);
    return { kind: 'stdio', command, args };
  };
  const entries = [
    { name: 'web', transport: http(urls.web), auth: { type: 'bearer', secretRef: 'web_token' } },
    { name: 'keyed', transport: http(urls.keyed), auth: { type: 'bearer', secretRef: 'key_header', header: 'X-Api-Key' } },
    { name: 'minted', transport: http(urls.minted), auth: { type: 'jwt', secretRef: 'signing_key', ttl: '5m' } },
    { name: 'env', transport: stdio('blabs', 'TOKEN', 'also'), auth: { type: 'env', env: { TOKEN: 'env_token' } } },
    { name: 'program', transport: stdio('blabs', 'PROGRAM_ACCESS_TOKEN'), auth: { type: 'bearer', secretRef: 'program_token' } },
    { name: 'pem', transport: stdio('blabs', 'KEY'), auth: { type: 'env', env: { KEY: 'pem_key' } }, sharing: 'agent' },
  ];
  return `upstreams:\n${entries.map((entry) => `  - ${JSON.stringify(entry)}`).join('\n')}\n`;
}

/** Whatever a person or a program may look at. */
async function looksOf(house: House, daemon: RunningDaemon, run: (args: readonly string[]) => Promise<string>): Promise<string[]> {
  const looked = [
    await run(['upstream', 'ls']),
    await run(['tools', 'review']),
    await run(['secret', 'ls', '--json']),
    await run(['vault', 'status', '--json']),
    await run(['audit', 'query', '--limit', '200', '--json']),
    await run(['audit', 'export', join(house.folder, 'bundle')]),
    await run(['status']),
  ];
  const { host, port } = new URL(daemon.human_url);
  for (const path of ['/', '/metrics', '/v1/fleet.list', '/approvals/none'])
    looked.push((await exchange(`http://127.0.0.1:${port}${path}`, { method: 'GET', headers: { host } })).body);
  return looked;
}
