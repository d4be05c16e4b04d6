// What an upstream may ask the client behind a call, with real upstreams over HTTP that do nothing else, and the real record.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askingUpstream, type AskingUpstream } from '../../../test/support/asking-upstream.ts';
import { everything, fakeHost, refuses, type FakeHost } from '../../../test/support/fake-host.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { JsonObject } from '../../kernel/json.ts';

const policies = (more = ''): string => `
version: 1
limits: { rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: '*:call:plain', effect: allow, redact: [email] }
      - { match: '*:call:*', effect: allow }
      - { match: 'vendor*:method:vendor/*', effect: allow }
      - { match: 'vendor*:method:notifications/*', effect: allow }
      - { match: 'person*:method:sampling/*', effect: ask }
      - { match: 'asksmail*:method:elicitation/create', effect: allow, redact: [email] }
${more}
`;
const denying = `      - { match: 'denied*:method:sampling/createMessage', effect: deny }
      - { match: 'quiet*:method:notifications/message', effect: deny }`;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({ policies: policies(denying) });
});
afterAll(() => house.close());

let names = 0;
async function upstreamOf(prefix = 'up', more: object = {}): Promise<{ readonly name: string; readonly upstream: AskingUpstream }> {
  const upstream = await askingUpstream();
  const name = `${prefix}${(names += 1)}`;
  await house.decide('fleet.add', { name, url: upstream.url, ...more });
  return { name, upstream };
}

/** What the upstream got for its question. */
async function asks(
  kimi: HouseAgent,
  name: string,
  method: string,
  params: JsonObject = {},
  host: FakeHost = fakeHost(),
): Promise<JsonObject> {
  return JSON.parse(await kimi.text(`${name}__ask`, { method, params }, { host })) as JsonObject;
}

const sampling = { messages: [], maxTokens: 10 };
const form = { message: 'who?', requestedSchema: { type: 'object', properties: {} } };

describe('a question', () => {
  test('[HOST-1] reaches the client of the very call, and its answer the upstream', async () => {
    const { name } = await upstreamOf();
    const [kimi, other] = [await house.agent(), await house.agent()];
    const [mine, theirs] = [fakeHost(), fakeHost()];
    mine.answers = () => ({ action: 'accept', content: { who: 'me' } });
    await other.call(`${name}__plain`, {}, { host: theirs });
    expect(await asks(kimi, name, 'elicitation/create', form, mine)).toEqual({ action: 'accept', content: { who: 'me' } });
    expect(mine.asked).toMatchObject([{ method: 'elicitation/create', params: form }]);
    expect(theirs.asked).toEqual([]);
  });

  test('[HOST-1] of many calls at once reaches each client its own, whoever else calls that upstream', async () => {
    const { name } = await upstreamOf();
    const callers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const kimi = await house.agent();
        const host = fakeHost(everything, (_, params) => ({ from: kimi.caller.agent, to: params['message'] ?? null }));
        return { kimi, host };
      }),
    );
    const turns = callers.flatMap((caller) => Array.from({ length: 5 }, (_, turn) => ({ ...caller, turn })));
    const answers = turns.map(({ kimi, host, turn }) => {
      return asks(kimi, name, 'elicitation/create', { ...form, message: `${kimi.caller.agent} ${turn}` }, host);
    });
    expect(await Promise.all(answers)).toEqual(
      turns.map(({ kimi: { caller }, turn }) => ({ from: caller.agent, to: `${caller.agent} ${turn}` })),
    );
    expect(callers.map(({ host }) => host.asked.length)).toEqual([5, 5, 5, 5]);
  });

  test('[HOST-1] an error of the client reaches the upstream as the client put it', async () => {
    const { name } = await upstreamOf();
    const host = fakeHost(everything, () => refuses(-1, 'User rejected sampling request'));
    expect(await asks(await house.agent(), name, 'sampling/createMessage', sampling, host)).toEqual({
      error: { code: -1, message: 'User rejected sampling request' },
    });
  });

  test('[HOST-4] is on the record before the client sees it, and its outcome after, in digests only', async () => {
    const { name } = await upstreamOf();
    const kimi = await house.agent();
    const host = fakeHost();
    const seen: number[] = [];
    host.answers = () => {
      seen.push(house.recordText().split('"event":"ask.relayed"').length - 1);
      return { action: 'accept', content: { secret: 'hunter2-answer' } };
    };
    const before = (await house.records('ask.relayed')).length;
    await asks(kimi, name, 'elicitation/create', { ...form, message: 'hunter2-question' }, host);
    expect(seen).toEqual([before + 1]);
    const intent = (await house.records('ask.relayed')).at(-1);
    const outcome = (await house.records('call.outcome')).find((record) => record.intent === intent?.id);
    expect(intent).toMatchObject({
      actor: `agent:${kimi.caller.agent}`,
      facts: { upstream: name, method: 'elicitation/create', capability: `${name}:method:elicitation/create` },
    });
    expect(outcome).toMatchObject({ facts: { outcome: 'ok', action: 'accept' } });
    expect(house.recordText()).not.toContain('hunter2');
  });
});

describe('what may be asked', () => {
  test('[HOST-2] the three of the protocol unless a rule denies them, anything else only where a rule allows it', async () => {
    const [up, denied, vendor] = [await upstreamOf(), await upstreamOf('denied'), await upstreamOf('vendor')];
    const kimi = await house.agent();
    const host = fakeHost(everything, () => ({ ok: true }));
    const notFound = (method: string) => ({ error: { code: -32601, message: `Method not found: ${method}` } });
    expect(await asks(kimi, up.name, 'sampling/createMessage', sampling, host)).toEqual({ ok: true });
    expect(await asks(kimi, denied.name, 'sampling/createMessage', sampling, host)).toEqual(notFound('sampling/createMessage'));
    expect(await asks(kimi, denied.name, 'elicitation/create', form, host)).toEqual({ ok: true });
    for (const method of ['vendor/look', 'tasks/get', 'tools/call', 'vendor/*', ''])
      expect(await asks(kimi, up.name, method, {}, host)).toEqual(notFound(method));
    expect(await asks(kimi, vendor.name, 'vendor/look', { a: 1 }, host)).toEqual({ ok: true });
    expect(host.asked.map(({ method }) => method)).toEqual(['sampling/createMessage', 'elicitation/create', 'vendor/look']);
  });

  test('[HOST-2] where a rule asks a person, only under a grant that a person gave', async () => {
    const { name } = await upstreamOf('person');
    const kimi = await house.agent();
    const host = fakeHost(everything, () => ({ ok: true }));
    const refused = await asks(kimi, name, 'sampling/createMessage', sampling, host);
    expect(refused).toMatchObject({
      error: { code: -32601, message: expect.stringContaining(`${name}:method:sampling`) as string },
    });
    await house.approve(await kimi.ask(`${name}:method:sampling/createMessage`));
    expect(await asks(kimi, name, 'sampling/createMessage', sampling, host)).toEqual({ ok: true });
    expect(host.asked).toHaveLength(1);
  });

  test.each<[string, JsonObject, string, JsonObject, number]>([
    ['sampling that was not declared', { elicitation: {} }, 'sampling/createMessage', sampling, -32601],
    ['elicitation that was not declared', { sampling: {} }, 'elicitation/create', form, -32601],
    ['a link where only forms are shown', { elicitation: {} }, 'elicitation/create', { mode: 'url', url: 'https://a' }, -32602],
    ['a form where only links are shown', { elicitation: { url: {} } }, 'elicitation/create', form, -32602],
    ['a mode that is none', { elicitation: {} }, 'elicitation/create', { ...form, mode: ['form'] }, -32602],
    ['tools where it samples without', { sampling: {} }, 'sampling/createMessage', { ...sampling, tools: [] }, -32602],
    ['a task where it runs none', { sampling: {} }, 'sampling/createMessage', { ...sampling, task: {} }, -32602],
    ['roots of an upstream that is told of none', { roots: {} }, 'roots/list', {}, -32601],
  ])('[HOST-3] %s is refused in the client’s stead', async (_, capabilities, method, params, code) => {
    const { name } = await upstreamOf();
    const host = fakeHost(capabilities);
    expect(await asks(await house.agent(), name, method, params, host)).toMatchObject({ error: { code } });
    expect(host.asked).toEqual([]);
  });

  test('[HOST-3] an older includeContext is for the client to ignore', async () => {
    const { name } = await upstreamOf();
    const host = fakeHost({ sampling: {} }, () => ({ ok: true }));
    const params = { ...sampling, includeContext: 'thisServer' };
    expect(await asks(await house.agent(), name, 'sampling/createMessage', params, host)).toEqual({ ok: true });
  });

  test('[HOST-3] the upstream is told of what it may ask, and of nothing else', async () => {
    const [up, denied] = [await upstreamOf(), await upstreamOf('denied')];
    const rooted = await upstreamOf('up', { roots: ['/srv'] });
    const kimi = await house.agent();
    const host = fakeHost({ ...everything, tasks: {}, experimental: { x: {} } });
    for (const { name } of [up, denied, rooted]) await kimi.call(`${name}__plain`, {}, { host });
    const { elicitation, sampling: samples, roots } = everything;
    expect(up.upstream.told.at(-1)).toEqual({ elicitation, sampling: samples, experimental: { x: {} } });
    expect(denied.upstream.told.at(-1)).toEqual({ elicitation, experimental: { x: {} } });
    expect(rooted.upstream.told.at(-1)).toEqual({ elicitation, sampling: samples, roots, experimental: { x: {} } });
  });

  test('[HOST-3] [TASK-1] of a client of 2025 no upstream is told that it takes tasks of the extension', async () => {
    const { name, upstream } = await upstreamOf();
    const extensions = { 'io.modelcontextprotocol/tasks': {}, 'vendor/other': {} };
    await (await house.agent()).call(`${name}__plain`, {}, { host: fakeHost({ extensions }) });
    expect(upstream.told.at(-1)).toEqual({ extensions: { 'vendor/other': {} } });
  });
});

describe('a question that', () => {
  test('[HOST-2] reads differently to different readers is not put', async () => {
    const { name, upstream } = await upstreamOf();
    const host = fakeHost();
    upstream.raw = '{"mode":"form","mode":"url","url":"https://evil.example","message":"a","requestedSchema":{"type":"object"}}';
    expect(await asks(await house.agent(), name, 'elicitation/create', {}, host)).toMatchObject({ error: { code: -32602 } });
    expect(host.asked).toEqual([]);
  });

  test('[HOST-2] is denied while a person thinks about it gets no answer', async () => {
    const { name } = await upstreamOf('later');
    const kimi = await house.agent();
    const host = fakeHost(everything, () => undefined);
    const { promise: answered, resolve: answer } = Promise.withResolvers<JsonObject>();
    host.ask = async ({ method, signal }) => {
      host.asked.push({ method, params: {}, signal });
      const value = await answered;
      return { kind: 'result', value, json: JSON.stringify(value) };
    };
    const call = asks(kimi, name, 'elicitation/create', form, host);
    await expect.poll(() => host.asked.length).toBe(1);
    await house.adopt(policies(`${denying}\n      - { match: '${name}:method:elicitation/create', effect: deny }`));
    answer({ action: 'accept', content: { who: 'me' } });
    expect(await call).toMatchObject({ error: { code: -32601 } });
    await house.adopt(policies(denying));
  });

  test('[HOST-9] is one of too many at once is refused', async () => {
    const { name } = await upstreamOf();
    const kimi = await house.agent();
    const abort = new AbortController();
    const host = fakeHost(everything, () => undefined);
    const call = () => kimi.call(`${name}__ask`, { method: 'elicitation/create', params: form }, { host, signal: abort.signal });
    const calls = Promise.allSettled(Array.from({ length: 32 }, call));
    await expect.poll(() => host.asked.length).toBe(32);
    expect(await asks(kimi, name, 'elicitation/create', form, host)).toMatchObject({ error: { code: -32603 } });
    abort.abort();
    await calls;
    host.answers = () => ({ action: 'decline' });
    expect(await asks(kimi, name, 'elicitation/create', form, host)).toEqual({ action: 'decline' });
  });

  test('[HOST-1] comes when its client is gone is told so', async () => {
    const { name } = await upstreamOf();
    const host = fakeHost();
    host.gone = true;
    expect(await asks(await house.agent(), name, 'elicitation/create', form, host)).toEqual({
      error: { code: -32603, message: 'The client is gone.' },
    });
  });
});

describe('an agent that was suspended', () => {
  test('[HOST-5] is asked nothing more, and what it answers meanwhile goes nowhere', async () => {
    const { name } = await upstreamOf();
    const kimi = await house.agent();
    const { promise: answered, resolve: answer } = Promise.withResolvers<JsonObject>();
    const host = fakeHost();
    host.ask = async (request) => {
      host.asked.push({ method: request.method, params: {}, signal: request.signal });
      const value = await answered;
      return { kind: 'result', value, json: JSON.stringify(value) };
    };
    const call = kimi.text(`${name}__ask`, { method: 'elicitation/create', params: form }, { host });
    await expect.poll(() => host.asked.length).toBe(1);
    await house.local('agents.suspend', { name: kimi.caller.agent, reason: 'odd' });
    answer({ action: 'accept', content: { password: 'hunter2' } });
    const got = await call;
    expect(got).toContain('-32603');
    expect(got).not.toContain('hunter2');
  });
});

describe('what an upstream tells', () => {
  const message = (level: string, data = 'hello'): JsonObject => ({ level, data });

  async function tells(kimi: HouseAgent, name: string, host: FakeHost, method: string, params: JsonObject): Promise<void> {
    await kimi.text(`${name}__tell`, { method, params }, { host });
  }

  test('[HOST-6] log messages reach the client of the call from its level on, unless a rule denies them', async () => {
    const [up, quiet] = [await upstreamOf(), await upstreamOf('quiet')];
    const kimi = await house.agent();
    const host = fakeHost();
    await tells(kimi, up.name, host, 'notifications/message', message('debug'));
    await tells(kimi, up.name, host, 'notifications/message', message('warning'));
    await tells(kimi, quiet.name, host, 'notifications/message', message('error'));
    expect(host.told).toEqual([{ method: 'notifications/message', params: message('warning') }]);
    house.dispatch.setLogLevel(kimi.caller, 'error');
    await tells(kimi, up.name, host, 'notifications/message', message('warning'));
    house.dispatch.setLogLevel(kimi.caller, undefined);
    await tells(kimi, up.name, host, 'notifications/message', message('emergency'));
    expect(host.told).toHaveLength(1);
  });

  test('[HOST-6] notices of its own only where a rule allows them, and those that belong to the session itself never', async () => {
    const [up, vendor] = [await upstreamOf(), await upstreamOf('vendor')];
    const kimi = await house.agent();
    const host = fakeHost();
    for (const { name } of [up, vendor])
      for (const method of [
        'notifications/vendor',
        'notifications/cancelled',
        'notifications/roots/list_changed',
        'notifications/elicitation/complete',
      ])
        await tells(kimi, name, host, method, { requestId: 1 });
    expect(host.told.map(({ method }) => method)).toEqual([
      'notifications/elicitation/complete',
      'notifications/vendor',
      'notifications/elicitation/complete',
    ]);
  });

  test('[HOST-7] what is masked in an answer to this client is masked in questions and log messages as well', async () => {
    const { name } = await upstreamOf();
    const kimi = await house.agent();
    const host = fakeHost();
    const asking = { ...form, message: 'is it ann@example.org?' };
    await asks(kimi, name, 'elicitation/create', asking, host);
    await kimi.call(`${name}__plain`, {}, { host });
    await asks(kimi, name, 'elicitation/create', asking, host);
    await tells(kimi, name, host, 'notifications/message', message('info', 'bob@example.org'));
    expect(host.asked.map(({ params }) => params['message'])).toEqual(['is it ann@example.org?', 'is it [REDACTED:email]?']);
    expect(host.told[0]?.params['data']).toBe('[REDACTED:email]');
  });

  test('[HOST-7] so is what the rule about the question says; what the client answers is not', async () => {
    const { name } = await upstreamOf('asksmail');
    const host = fakeHost(everything, () => ({ action: 'accept', content: { mail: 'me@example.org' } }));
    const got = await asks(await house.agent(), name, 'elicitation/create', { ...form, message: 'ann@example.org?' }, host);
    expect(host.asked[0]?.params['message']).toBe('[REDACTED:email]?');
    expect(got).toMatchObject({ content: { mail: 'me@example.org' } });
  });
});

test('[HOST-4] while nothing can be recorded nothing is asked, and the call that is under way ends all the same', async () => {
  const { name, upstream } = await upstreamOf();
  const kimi = await house.agent();
  const host = fakeHost();
  upstream.onCall = () => {
    house.files.full = true;
  };
  expect(await asks(kimi, name, 'elicitation/create', form, host)).toMatchObject({ error: { code: -32603 } });
  expect(host.asked).toEqual([]);
  house.files.full = false;
  await expect.poll(() => kimi.text(`${name}__plain`).catch(() => ''), { timeout: 5_000 }).toBe('done');
});
