// Fifteen servers nobody here wrote, all at once behind the running program: their definitions are byte for byte those of a direct
// connection, their answers too, and nothing of them is left afterwards.
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandOf, interop, listening, postgresUrl, stockServers, type StockServer } from '../support/interop-servers.ts';
import { slicesAt, sliceAt } from '../support/json-slices.ts';
import { openHttp, openPipe, plainIdentity, type RawClient } from '../support/raw-client.ts';
import { canSeeProcesses, processesOf } from '../support/processes.ts';
import { addAgent, decide, openHouse, until, type House, type RunningDaemon } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  kimi:
    capabilities:
      - match: "repository:call:git_{push,reset,clean}"
        effect: ask
      - match: "*:{call,read,prompt}:*"
        effect: allow
    limits:
      deny: ["files:call:move_file"]
`;
/** What the policy keeps from the agent altogether. */
const denied = new Set(['files/move_file']);

const meant = (server: StockServer, definitions: readonly string[]): string[] =>
  definitions.filter((text) => !denied.has(`${server.name}/${nameOf(text)}`)).toSorted();
const nameOf = (definition: string): string => JSON.parse(sliceAt(definition, ['name']) ?? '""') as string;

async function listed(client: RawClient, method: string, member: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const answer = await client.ask(method, cursor === undefined ? {} : { params: `"cursor":${cursor}` });
    found.push(...slicesAt(answer, ['result', member]));
    cursor = sliceAt(answer, ['result', 'nextCursor']);
  } while (cursor !== undefined);
  return found;
}

/** What it answers, without the id: the bytes of the result or of the error. */
async function outcome(client: RawClient, method: string, params: object): Promise<string> {
  const answer = await client.ask(method, { params: JSON.stringify(params).slice(1, -1) });
  return sliceAt(answer, ['result']) ?? sliceAt(answer, ['error']) ?? '';
}

function said({ name }: StockServer, answer: string | undefined, what: RegExp): void {
  if (answer === undefined || !what.test(answer)) throw new Error(`${name} did not say ${String(what)}: ${answer}`);
}

interface Heard {
  readonly server: string;
  readonly definitions: string[];
  readonly answers: string[];
}

/** Everything a server is asked, in order, whoever stands between. */
async function hear(client: RawClient, server: StockServer): Promise<Heard> {
  const definitions = meant(server, await listed(client, 'tools/list', 'tools'));
  const answers: string[] = [];
  for (const { tool, args, says, varies } of server.calls) {
    const answer = await outcome(client, 'tools/call', { name: tool, arguments: args });
    said(server, answer, says);
    answers.push(varies === true ? '' : answer);
  }
  if (server.resource !== undefined) {
    answers.push((await listed(client, 'resources/list', 'resources')).toSorted().join());
    answers.push(await outcome(client, 'resources/read', { uri: server.resource }));
    said(server, answers.at(-1), /"contents":\[/);
  }
  if (server.prompt !== undefined) {
    answers.push((await listed(client, 'prompts/list', 'prompts')).toSorted().join());
    answers.push(await outcome(client, 'prompts/get', { name: server.prompt }));
    said(server, answers.at(-1), /"messages":\[/);
  }
  return { server: server.name, definitions, answers };
}

/** The same server without anything between, in a folder of its own: paths in its answers are those of the other folder. */
async function alone(house: House, server: (scratch: string) => StockServer, scratch: string): Promise<Heard> {
  const own = house.path('alone', 'scratch');
  const mine = server(own);
  const env = { PATH: process.env['PATH'] ?? '', HOME: house.path('alone'), ...mine.env };
  const pipe = await openPipe(commandOf(mine), env);
  const heard = await hear(pipe, mine);
  await pipe.close();
  return { ...heard, answers: heard.answers.map((answer) => answer.replaceAll(own, scratch)) };
}

function names(texts: readonly string[]): string[] {
  return texts.map(nameOf);
}

interface Row {
  readonly server: string;
  readonly tools: number;
  readonly 'schema KB': number;
  readonly 'ms to ready': number;
}

const endpoint = (daemon: RunningDaemon, name: string): string => `${daemon.agent_url}/upstreams/${name}`;

test.skipIf('reason' in interop || !canSeeProcesses)(
  '[INTEROP-2] [DOOR-11] [NAME-1] stock servers side by side list and answer through the program byte for byte as they do alone',
  async () => {
    const house = await openHouse({ policies });
    const scratch = house.path('scratch');
    mkdirSync(scratch);
    const postgres = await postgresUrl();
    const servers = stockServers(scratch, postgres);
    expect(servers.length).toBeGreaterThanOrEqual(13);
    const daemon = await house.up();
    const headers = { authorization: `Bearer ${await addAgent(house, daemon, 'kimi')}` };
    const rows: Row[] = [];
    for (const server of servers) {
      const startedAt = performance.now();
      const added = await decide(house, daemon, 'fleet.add', { name: server.name, run: commandOf(server), env: server.env ?? {} });
      expect(added).toMatchObject({ upstream: server.name, connection: { ok: true } });
      rows.push({ server: server.name, tools: 0, 'schema KB': 0, 'ms to ready': Math.round(performance.now() - startedAt) });
    }

    const all = await openHttp(daemon.agent_url, headers);
    const together = names(await listed(all, 'tools/list', 'tools'));
    for (const [at, server] of servers.entries()) {
      const client = await openHttp(endpoint(daemon, server.name), headers);
      const heard = await hear(client, server);
      const expected = await alone(house, (own) => stockServers(own, postgres)[at]!, scratch);
      expect(heard).toEqual(expected);
      expect(heard.definitions.length + [...denied].filter((name) => name.startsWith(`${server.name}/`)).length).toBe(server.tools);
      const own = names(heard.definitions).map((name) => `${server.name}__${name}`);
      expect(together.filter((name) => name.startsWith(`${server.name}__`)).toSorted()).toEqual(own.toSorted());
      const bytes = heard.definitions.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      rows[at] = { ...rows[at]!, tools: heard.definitions.length, 'schema KB': Number((bytes / 1_024).toFixed(1)) };
      await client.close();
    }
    expect(together.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
    expect(new Set(together.map((name) => name.toLowerCase())).size).toBe(together.length);

    // The commander's shell and what it left in the background are processes of this house, and end with it.
    expect(processesOf(house.folder).length).toBeGreaterThan(servers.length);
    expect(await daemon.stop()).toBe(0);
    await until(() => processesOf(house.folder).length === 0, 'no process is left');

    // All of them at once, from a cold start; names are the same again.
    const startedAt = performance.now();
    const again = await house.up();
    const ready = async (): Promise<boolean> =>
      ((await again.line.operate('fleet.list', {})) as { state: string }[]).every(({ state }) => state === 'ready');
    await until(ready, 'every server is ready', 60_000);
    rows.push({
      server: 'all at once',
      tools: rows.reduce((sum, { tools }) => sum + tools, 0),
      'schema KB': Math.round(rows.reduce((sum, row) => sum + row['schema KB'], 0)),
      'ms to ready': Math.round(performance.now() - startedAt),
    });
    const later = await openHttp(again.agent_url, headers);
    expect(names(await listed(later, 'tools/list', 'tools'))).toEqual(together);
    await Promise.all([all.close().catch(() => undefined), later.close()]);
    expect(await again.stop()).toBe(0);
    console.table(rows);
  },
  240_000,
);

test.skipIf('reason' in interop)(
  '[INTEROP-2] [HTTPUP-2] those that speak Streamable HTTP list and answer over it as they do to a client of their own',
  async () => {
    const house = await openHouse({ policies });
    const scratch = house.path('scratch');
    mkdirSync(scratch);
    const daemon = await house.up();
    const headers = { authorization: `Bearer ${await addAgent(house, daemon, 'kimi')}` };
    const speakers = stockServers(scratch, undefined).filter(({ http }) => http !== undefined);
    expect(speakers.map(({ name }) => name)).toEqual(['everything', 'repository', 'chart', 'context7']);
    for (const server of speakers) {
      const url = await listening(server, house.folder);
      const added = await decide(house, daemon, 'fleet.add', { name: server.name, url });
      expect(added).toMatchObject({ upstream: server.name, connection: { ok: true } });
      // Over HTTP clients can be asked back, so that the list has what a server lists only for those that can.
      const era = server.http?.era ?? plainIdentity.era;
      const identity = { ...plainIdentity, era, capabilities: '{"sampling":{},"elicitation":{"form":{},"url":{}}}' };
      const direct = await openHttp(url, {}, identity);
      const through = await openHttp(endpoint(daemon, server.name), headers, identity);
      expect(await hear(through, server)).toEqual(await hear(direct, server));
      await Promise.all([direct.close(), through.close()]);
    }
    expect(await daemon.stop()).toBe(0);
  },
  120_000,
);
