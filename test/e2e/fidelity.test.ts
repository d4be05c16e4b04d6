// What reaches an agent of what an upstream sent, and the other way round: every kind of thing a relay loses, for every pair of eras, doors
// and transports. A raw client, a raw upstream, and nothing that parses between them but the program.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import {
  asModern,
  oddCapabilities,
  oddError,
  oddInfo,
  oddInstructions,
  oddNotice,
  oddResources,
  oddResults,
  oddTask,
  oddThing,
  oddTools,
  startOddHttp,
} from '../fixtures/odd-upstream.ts';
import { oddResult } from '../fixtures/odd-result.ts';
import { fixtureCommand } from '../support/fixture-upstream.ts';
import { slicesAt, sliceAt } from '../support/json-slices.ts';
import type { OpenedClient, RawIdentity } from '../support/raw-client.ts';
import { openDoor, type RawDoor } from '../support/raw-doors.ts';
import { addAgent, decide, openHouse } from '../support/running-daemon.ts';

const policies = `version: 1
agents:
  kimi:
    capabilities:
      - match: "*:{call,read,method}:*"
        effect: allow
`;

const upstreams = ['stdio', 'session', 'stateless'] as const;
const doors: readonly RawDoor[] = ['http', 'bridge'];
const eras = ['2025-11-25', '2026-07-28'] as const;
type Upstream = (typeof upstreams)[number];
type Era = (typeof eras)[number];

const identityOf = (era: Era): RawIdentity => ({
  era,
  info: '{"x-i":[1],"name":"raw","version":"1","title":"Raw"}',
  capabilities:
    '{"x-cap":{"a":1},"sampling":{"x":1},"experimental":{"x":{"k":1.5}},"elicitation":{"form":{}}' +
    (era === '2026-07-28' ? ',"extensions":{"io.modelcontextprotocol/tasks":{}}}' : '}'),
});

interface Pair {
  readonly client: OpenedClient;
  readonly era: Era;
  readonly upstream: Upstream;
  /** Every message the upstream got so far, as the text that came. */
  readonly got: () => string[];
}

/** What is right where revisions differ, by the rule that makes it so. */
const rules = {
  complete: 'exact + resultType (2026)',
  noTasks: 'no tasks across revisions',
} as const;
type Rule = keyof typeof rules;

/** `exact`, the rule that makes another text right, or what came instead. */
function judge(came: string | undefined, sent: string, others: Partial<Record<Rule, string>> = {}): string {
  if (came === sent) return 'exact';
  for (const [rule, text] of Object.entries(others)) if (came === text) return rules[rule as Rule];
  return `LOST: ${came ?? 'nothing'}`;
}

async function resultOf({ client }: Pair, method: string, params: string): Promise<string> {
  const answer = await client.ask(method, { params });
  return sliceAt(answer, ['result']) ?? answer;
}

/** A result of an upstream on its way to a client. */
async function judgeResult(pair: Pair, method: string, params: string, sent: string): Promise<string> {
  const came = await resultOf(pair, method, params);
  if (revisionOf(pair.upstream) === '2026') return judge(came, asModern(sent, method));
  return pair.era === '2025-11-25' ? judge(came, sent) : judge(came, '', { complete: withType(sent) });
}

const revisionOf = (upstream: Upstream): '2025' | '2026' => (upstream === 'stateless' ? '2026' : '2025');
const withType = (result: string): string => `{"resultType":"complete",${result.slice(1)}`;

const call = (tool: string): string => `"name":"${tool}","arguments":{}`;

async function judgePages(pair: Pair, method: string, member: string, pages: readonly (readonly string[])[]): Promise<string> {
  const came: string[] = [];
  let cursor: string | undefined;
  do {
    const answer = await pair.client.ask(method, cursor === undefined ? {} : { params: `"cursor":${cursor}` });
    came.push(...slicesAt(answer, ['result', member]));
    cursor = sliceAt(answer, ['result', 'nextCursor']);
  } while (cursor !== undefined);
  // In an order of the gateway's own, which is the same in every list.
  return judge(came.toSorted().join('\n'), pages.flat().toSorted().join('\n'));
}

const same = (text: string | undefined): string => JSON.stringify(text === undefined ? null : JSON.parse(text));

/** Rows of results: what the revision of the client adds to those of the other. */
const results = new Set([
  'key order, numbers and escapes of a result',
  'content of unknown type, unknown fields of content',
  'result without content',
  'vendor method',
]);
/** Rows about what each revision has in a way of its own. */
const apart = new Set(['capabilities, serverInfo, instructions', 'tasks: what a call became, its state and its result']);

/** Exact, but for what a revision itself forces. */
function expected(): Record<string, Record<string, string>> {
  const cell = (row: string, era: Era, upstream: Upstream): string => {
    if (era.startsWith(revisionOf(upstream))) return 'exact';
    if (apart.has(row)) return rules.noTasks;
    return results.has(row) && era === '2026-07-28' ? rules.complete : 'exact';
  };
  const pairs = eras.flatMap((era) => doors.flatMap((door) => upstreams.map((upstream) => ({ era, door, upstream }))));
  return Object.fromEntries(
    Object.keys(rows).map((row) => [
      row,
      Object.fromEntries(pairs.map(({ era, door, upstream }) => [nameOf(era, door, upstream), cell(row, era, upstream)])),
    ]),
  );
}

const nameOf = (era: Era, door: RawDoor, upstream: Upstream): string => `${era.slice(0, 4)} ${door} > ${upstream}`;

const rows: Readonly<Record<string, (pair: Pair) => Promise<string>>> = {
  'unknown fields of tools, annotations, icons; schemas; all pages': (pair) => judgePages(pair, 'tools/list', 'tools', oddTools),
  'unknown fields of resources; nextCursor': (pair) => judgePages(pair, 'resources/list', 'resources', oddResources),
  'key order, numbers and escapes of a result': (pair) => judgeResult(pair, 'tools/call', call('odd'), oddResults['odd']!),
  'content of unknown type, unknown fields of content': (pair) =>
    judgeResult(pair, 'tools/call', call('hologram'), oddResults['hologram']!),
  'result without content': (pair) => judgeResult(pair, 'tools/call', call('empty'), oddResults['empty']!),
  'error object': async ({ client }) =>
    judge(sliceAt(await client.ask('tools/call', { params: call('fails') }), ['error']), oddError),
  'vendor method': (pair) => judgeResult(pair, 'vendor/thing', '"x":{"b":1,"a":[]}', oddThing),
  'vendor notification': async ({ client }) => {
    const before = client.heard.length;
    await client.ask('tools/call', { params: call('tells') });
    const notices = client.heard.slice(before).filter((text) => sliceAt(text, ['method']) === '"notifications/vendor/thing"');
    return judge(notices.map((text) => sliceAt(text, ['params'])).join(), oddNotice);
  },
  'unknown params fields, their order': async ({ client, got }) => {
    await client.ask('tools/call', {
      params: '"x-unknown":{"b":1,"a":[]},"name":"plain","arguments":{"z":{"d":1.5,"c":null},"y":"\\u00fc"}',
      meta: '"vendor/m":{"b":1,"a":2}',
    });
    const sent = got().at(-1) ?? '{}';
    const seen = [['x-unknown'], ['arguments'], ['_meta', 'vendor/m']].map((path) => same(sliceAt(sent, ['params', ...path])));
    return judge(seen.join(), '{"b":1,"a":[]},{"z":{"d":1.5,"c":null},"y":"ü"},{"b":1,"a":2}');
  },
  'client identity and capabilities seen upstream': async ({ client, got, era, upstream }) => {
    await client.ask('tools/call', { params: call('plain') });
    const [info, capabilities] =
      upstream === 'stateless'
        ? [
            ['_meta', 'io.modelcontextprotocol/clientInfo'],
            ['_meta', 'io.modelcontextprotocol/clientCapabilities'],
          ]
        : [['clientInfo'], ['capabilities']];
    const seen = [info, capabilities].map((path) => same(lastWith(got(), path)));
    const own = identityOf(era);
    return judge(seen.join(' '), `${same(own.info)} ${same(own.capabilities)}`);
  },
  'capabilities, serverInfo, instructions': async ({ client, era, upstream }) => {
    const answer = era === '2025-11-25' ? client.opened : await client.ask('server/discover');
    const info = era === '2025-11-25' ? ['serverInfo'] : ['_meta', 'io.modelcontextprotocol/serverInfo'];
    const said = (capabilities: string): string => [capabilities, oddInfo, `"${oddInstructions}"`].map(sorted).join('\n');
    const came = [['capabilities'], info, ['instructions']].map((path) => sorted(sliceAt(answer, ['result', ...path])));
    const own = oddCapabilities[revisionOf(upstream)];
    const apart = own.replace(/"tasks":\{.*?\}\}\},/, '').replace('"io.modelcontextprotocol/tasks":{}', '');
    return judge(came.join('\n'), said(own), revisionOf(upstream) === era.slice(0, 4) ? {} : { noTasks: said(apart) });
  },
  'tasks: what a call became, its state and its result': async (pair) => {
    const { era, upstream } = pair;
    const revision = revisionOf(upstream);
    const made = await resultOf(pair, 'tools/call', `${call('job')}${era === '2025-11-25' ? ',"task":{"ttl":60000}' : ''}`);
    if (revision !== era.slice(0, 4))
      return judge(made, '', { noTasks: revision === '2026' ? asModern(oddResults['job']!, '') : withType(oddResults['job']!) });
    const state = await resultOf(pair, 'tasks/get', '"taskId":"t1"');
    const result = revision === '2025' ? await resultOf(pair, 'tasks/result', '"taskId":"t1"') : '';
    return judge(
      [made, state, result].join('\n'),
      [oddTask[revision].made, oddTask[revision].got, revision === '2025' ? oddResult : ''].join('\n'),
    );
  },
};

/** Members in the order of their names: what describes a peer is read by name. */
function sorted(text: string | undefined): string {
  const inOrder = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inside]) => [key, inOrder(inside)]),
        );
  return JSON.stringify(inOrder(text === undefined ? null : JSON.parse(text)));
}

function lastWith(messages: readonly string[], path: readonly string[]): string | undefined {
  return messages.map((text) => sliceAt(text, ['params', ...path])).findLast((text) => text !== undefined);
}

test(
  '[FID-1] what a relay may lose arrives as it was sent, for every pair of eras, doors and transports',
  { timeout: 60_000 },
  async () => {
    const house = await openHouse({ policies });
    const daemon = await house.up();
    const token = await addAgent(house, daemon, 'kimi');
    const pipeLog = house.path('seen');
    writeFileSync(pipeLog, '');
    const carriers = { session: await startOddHttp('2025'), stateless: await startOddHttp('2026') };
    onTestFinished(() => Object.values(carriers).forEach((carrier) => carrier.stop()));
    await decide(house, daemon, 'fleet.add', { name: 'stdio', run: fixtureCommand('odd-but-legal', pipeLog), sharing: 'session' });
    for (const [name, { url }] of Object.entries(carriers)) await decide(house, daemon, 'fleet.add', { name, url });
    const seenBy: Record<Upstream, () => string[]> = {
      stdio: () => readFileSync(pipeLog, 'utf8').trim().split('\n'),
      session: () => carriers.session.seen,
      stateless: () => carriers.stateless.seen,
    };

    const matrix: Record<string, Record<string, string>> = Object.fromEntries(Object.keys(rows).map((row) => [row, {}]));
    for (const era of eras)
      for (const door of doors)
        for (const upstream of upstreams) {
          const client = await openDoor(door, `${daemon.agent_url}/upstreams/${upstream}`, token, identityOf(era));
          const pair: Pair = { client, era, upstream, got: seenBy[upstream] };
          for (const [row, judged] of Object.entries(rows)) matrix[row]![nameOf(era, door, upstream)] = await judged(pair);
          await client.close();
        }
    console.table(matrix);
    expect(matrix).toEqual(expected());
    expect(await daemon.stop()).toBe(0);
  },
);
