// Upstreams of 2026-07-28 that need more before they answer, behind clients of either revision, with real upstreams over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askingUpstream, needs, text, type AskingUpstream } from '../../../test/support/asking-upstream.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { everything, fakeHost, refuses } from '../../../test/support/fake-host.ts';
import { openGatewayHouse, type GatewayHouse } from '../../../test/support/gateway-house.ts';
import type { HouseAgent } from '../../../test/support/house-agent.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { fulfil, mostRounds } from './fulfil.ts';

const policies = `
version: 1
limits: { rate_limit: 1000/s }
agents:
  '*':
    capabilities:
      - { match: 'asks*:call:*', effect: ask }
      - { match: 'denied*:method:sampling/createMessage', effect: deny }
      - { match: 'mail*:method:elicitation/create', effect: allow, redact: [email] }
      - { match: '*:call:*', effect: allow }
`;

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGatewayHouse({ policies });
});
afterAll(() => house.close());

let names = 0;
async function upstreamOf(
  answers: AskingUpstream['answers'],
  { prefix = 'up', ...more }: { prefix?: string; roots?: string[] } = {},
): Promise<{ readonly name: string; readonly upstream: AskingUpstream }> {
  const upstream = await askingUpstream('stateless');
  upstream.answers = answers;
  const name = `${prefix}${(names += 1)}`;
  await house.decide('fleet.add', { name, url: upstream.url, ...more });
  return { name, upstream };
}

const form = { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } } };
const sample = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } };

/** Asks these until it has answers, and then says what it got. */
const once =
  (requests: JsonObject, state?: string): AskingUpstream['answers'] =>
  ({ inputResponses, requestState }) =>
    inputResponses === undefined ? needs(requests, state) : text(JSON.stringify({ inputResponses, requestState }));

async function recordsOf({ caller }: HouseAgent, ...events: string[]) {
  return (await house.records()).filter(({ actor, event }) => actor === `agent:${caller.agent}` && events.includes(event));
}

describe('a client of 2025', () => {
  test('[HOST-8] is asked everything of a round at once, and the request is repeated with the answers and the untouched state', async () => {
    const { name, upstream } = await upstreamOf(once({ a: form, b: sample }, 'st\u00e4te "1"\u2028'));
    const kimi = await house.agent();
    const { promise, resolve } = Promise.withResolvers<void>();
    const host = fakeHost();
    host.ask = async ({ method, signal }) => {
      host.asked.push({ method, params: {}, signal });
      if (host.asked.length === 2) resolve();
      // Neither is answered before both are asked.
      await promise;
      const value = { from: method };
      return { kind: 'result', value, json: JSON.stringify(value) };
    };
    const got = await kimi.text(`${name}__plain`, { n: 1 }, { host, rest: { 'x-kept': true } });
    expect(JSON.parse(got)).toEqual({
      inputResponses: { a: { from: 'elicitation/create' }, b: { from: 'sampling/createMessage' } },
      requestState: 'st\u00e4te "1"\u2028',
    });
    expect(upstream.calls).toHaveLength(2);
    for (const params of upstream.calls) expect(params).toMatchObject({ name: 'plain', arguments: { n: 1 }, 'x-kept': true });
  });

  test('[HOST-8] stays with one admission and one intent, with every round and question on the record', async () => {
    let round = 0;
    const { name, upstream } = await upstreamOf(() => ((round += 1) <= 2 ? needs({ q: form }, String(round)) : text('done')), {
      prefix: 'asks',
    });
    const kimi = await house.agent();
    const host = fakeHost(everything, () => ({ action: 'decline' }));
    // A client that cannot be asked has the approval first.
    const { data } = await kimi.refusal(`${name}__plain`);
    await house.approve(String(data?.['approval_id']));
    expect(await kimi.text(`${name}__plain`, undefined, { host })).toBe('done');
    expect(upstream.calls).toHaveLength(3);
    const records = await recordsOf(kimi, 'approval.used', 'call.intent', 'ask.relayed', 'call.resumed', 'call.outcome');
    expect(records.map(({ event }) => event)).toEqual([
      'approval.used',
      'call.intent',
      'ask.relayed',
      'call.outcome',
      'call.resumed',
      'ask.relayed',
      'call.outcome',
      'call.resumed',
      'call.outcome',
    ]);
    const intent = records.find(({ event }) => event === 'call.intent');
    expect(records.at(-1)).toMatchObject({ intent: intent?.id, facts: { outcome: 'ok' } });
    expect(
      records.filter(({ event }) => event === 'call.resumed').map(({ facts }) => [facts?.['intent'], facts?.['round']]),
    ).toEqual([
      [intent?.id, 1],
      [intent?.id, 2],
    ]);
  });

  test('[HOST-8] gives what it was asked to decline as an answer like any other', async () => {
    const { name } = await upstreamOf(once({ q: form }));
    const host = fakeHost(everything, () => ({ action: 'cancel' }));
    const got = await (await house.agent()).text(`${name}__plain`, {}, { host });
    expect(JSON.parse(got)).toEqual({ inputResponses: { q: { action: 'cancel' } } });
  });

  test('[HOST-8] is not asked where only the state goes round', async () => {
    const { name, upstream } = await upstreamOf(({ requestState }) => (requestState === 's' ? text('done') : needs({}, 's')));
    const host = fakeHost();
    expect(await (await house.agent()).text(`${name}__plain`, {}, { host })).toBe('done');
    expect([host.asked.length, upstream.calls[1]?.['inputResponses']]).toEqual([0, undefined]);
  });

  test('[HOST-8] [HTTPUP-11] that cannot be asked has the words of before', async () => {
    const { name, upstream } = await upstreamOf(once({ q: form }));
    expect((await (await house.agent()).refusal(`${name}__plain`)).code).toBe('fleet.input_required');
    expect(upstream.calls).toHaveLength(1);
  });

  test.each<[string, JsonObject, RegExp]>([
    ['an error of the client', { q: sample }, /sampling\/createMessage was refused: not today/],
    ['what the client never declared', { q: { method: 'roots/list' } }, /roots\/list was refused: Method not found/],
    ['what is no request', { q: 'who?' }, /one of its questions is no request/],
    ['questions that are no object', ['who?'] as unknown as JsonObject, /its questions are no object/],
    ['more than can be asked', Object.fromEntries(Array.from({ length: 33 }, (_, at) => [at, form])), /more than 32 things/],
  ])('[HOST-9] %s ends the call with words, and nothing goes upstream again', async (_, requests, words) => {
    const { name, upstream } = await upstreamOf(once(requests));
    const kimi = await house.agent();
    const host = fakeHost(everything, () => refuses(-1, 'not today'));
    const error = await kimi.refusal(`${name}__plain`, {}, { host });
    expect(error).toMatchObject({ code: 'gateway.not_answered', message: expect.stringMatching(words) as string });
    expect(upstream.calls).toHaveLength(1);
    expect((await recordsOf(kimi, 'call.outcome')).at(-1)).toMatchObject({
      facts: { outcome: 'error', code: 'gateway.not_answered' },
    });
  });

  test('[HOST-9] one question without an answer takes the others back', async () => {
    const { name } = await upstreamOf(once({ a: form, b: sample }));
    const host = fakeHost(everything, (method) => (method === 'elicitation/create' ? undefined : refuses(-1, 'no')));
    await (await house.agent()).refusal(`${name}__plain`, {}, { host });
    expect(host.asked.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  test('[HOST-9] after eight rounds of answers it is not asked a ninth time', async () => {
    const { name, upstream } = await upstreamOf(() => needs({ q: form }, 'again'));
    const host = fakeHost();
    const error = await (await house.agent()).refusal(`${name}__plain`, {}, { host });
    expect(error).toMatchObject({ code: 'gateway.not_answered', message: expect.stringContaining('8 rounds') as string });
    expect([host.asked.length, upstream.calls.length]).toEqual([8, 9]);
  });

  test('[HOST-8] [HOST-5] between rounds the agent is suspended: its answers go nowhere', async () => {
    const { name, upstream } = await upstreamOf(once({ q: form }));
    const kimi = await house.agent();
    const host = fakeHost();
    host.ask = async () => {
      await house.local('agents.suspend', { name: kimi.caller.agent, reason: 'odd' });
      const value = { action: 'accept' };
      return { kind: 'result', value, json: JSON.stringify(value) };
    };
    expect((await kimi.refusal(`${name}__plain`, {}, { host })).code).toBe('gateway.not_answered');
    expect(upstream.calls).toHaveLength(1);
  });

  test('[HOST-9] a call that is taken back takes its questions back', async () => {
    const { name } = await upstreamOf(once({ q: form }));
    const abort = new AbortController();
    const host = fakeHost(everything, () => undefined);
    const call = (await house.agent()).refusal(`${name}__plain`, {}, { host, signal: abort.signal });
    await expect.poll(() => host.asked.length).toBe(1);
    abort.abort();
    expect((await call).code).toBe('fleet.cancelled');
    expect(host.asked[0]?.signal.aborted).toBe(true);
  });

  test('[HOST-9] people have ten minutes over all rounds, and the time upstream is not part of it', async () => {
    const clock = createFakeClock();
    const ask = { kind: 'result', json: '{}', value: needs({ q: form }, 's'), isError: false } as const;
    const host = fakeHost(everything, () => {
      if (host.asked.length > 1) return undefined;
      clock.advance(6 * 60_000);
      return { action: 'accept' };
    });
    const signal = new AbortController().signal;
    const over = fulfil(clock, ask, {
      upstream: 'up',
      host,
      signal,
      record: () => undefined,
      async send() {
        clock.advance(60 * 60_000);
        return ask;
      },
    });
    await expect.poll(() => host.asked.length).toBe(2);
    clock.advance(4 * 60_000 - 1);
    expect(host.asked[1]?.signal.aborted).toBe(false);
    clock.advance(1);
    await expect(over).rejects.toMatchObject({ message: expect.stringContaining('within 10 minutes') as string });
    expect([mostRounds, clock.pending()]).toEqual([8, 0]);
  });
});

describe('a client of 2026', () => {
  const client = { capabilities: everything, info: undefined, logLevel: undefined };

  test('[HOST-10] gets the questions byte for byte, on the record', async () => {
    const { name, upstream } = await upstreamOf(() => needs({ q: form, r: sample }, 'st\u00e4te'));
    const kimi = await house.agent();
    const host = fakeHost();
    const answer = await kimi.call(`${name}__plain`, {}, { client, host });
    expect(answer).toMatchObject({ kind: 'upstream' });
    expect(JSON.parse((answer as { result: string }).result)).toEqual(needs({ q: form, r: sample }, 'st\u00e4te'));
    expect([host.asked.length, upstream.calls.length]).toEqual([0, 1]);
    expect((await recordsOf(kimi, 'ask.handed'))[0]?.facts).toMatchObject({
      upstream: name,
      methods: ['elicitation/create', 'sampling/createMessage'],
    });
  });

  test('[HOST-10] but not those that may not be asked', async () => {
    const refused = [
      await upstreamOf(() => needs({ q: sample }), { prefix: 'denied' }),
      await upstreamOf(() => needs({ q: { method: 'vendor/steal' } })),
      await upstreamOf(() => needs({ q: { method: 'roots/list' } })),
    ];
    const kimi = await house.agent();
    for (const { name } of refused)
      for (const more of [{ client, host: fakeHost() }, { client }]) {
        const error = await kimi.refusal(`${name}__plain`, {}, more);
        expect(error.code).toBe('gateway.not_answered');
      }
    expect(await recordsOf(kimi, 'ask.refused')).toHaveLength(6);
    expect(await recordsOf(kimi, 'ask.handed')).toEqual([]);
  });

  test('[HOST-7] [HOST-10] gets them masked where a rule about what is asked says so', async () => {
    const asking = { method: 'elicitation/create', params: { ...form.params, message: 'Are you ann@example.com?' } };
    const { name } = await upstreamOf(() => needs({ q: asking }, 'state'), { prefix: 'mail' });
    const answer = await (await house.agent()).call(`${name}__plain`, {}, { client });
    const { result } = answer as { result: string };
    expect(result).not.toContain('ann@example.com');
    expect(JSON.parse(result)).toMatchObject({ inputRequests: { q: { method: 'elicitation/create' } }, requestState: 'state' });
  });

  test('[HOST-10] and none where a key stands twice, which it could read in another way than it was decided', async () => {
    const { name, upstream } = await upstreamOf(() => ({}), { prefix: 'denied' });
    const [denied, harmless] = [JSON.stringify(sample), JSON.stringify(form)];
    const kimi = await house.agent();
    for (const raw of [
      `{"resultType":"input_required","inputRequests":{"q":${denied}},"inputRequests":{"q":${harmless}}}`,
      `{"resultType":"input_required","inputRequests":{"q":${denied},"q":${harmless}}}`,
    ]) {
      upstream.raw = raw;
      expect(await kimi.refusal(`${name}__plain`, {}, { client })).toMatchObject({ code: 'gateway.not_answered' });
    }
    expect(await recordsOf(kimi, 'ask.handed')).toEqual([]);
  });

  test('[HOST-10] answers within its next request, and what goes upstream of that is on the record before', async () => {
    const { name, upstream } = await upstreamOf(() => text('done'));
    const kimi = await house.agent();
    const rest = { inputResponses: { q: { action: 'accept', content: { who: 'CANARY-who' } } }, requestState: 's' };
    await kimi.call(`${name}__plain`, {}, { client });
    await kimi.call(`${name}__plain`, {}, { client, rest });
    expect(upstream.calls[1]).toMatchObject(rest);
    const sealed = (await recordsOf(kimi, 'call.intent')).map((record) => Object.keys(record.sealed ?? {}));
    expect(sealed).toEqual([['args'], ['answers', 'args']]);
    expect(house.recordText()).not.toContain('CANARY');
  });

  test('[ROOTS-2] tells an upstream no root beyond its places, whoever asked for it', async () => {
    const [open, shut] = [await upstreamOf(() => text('done'), { roots: ['/srv'] }), await upstreamOf(() => text('done'))];
    const kimi = await house.agent();
    const roots = { roots: [{ uri: 'file:///' }, { uri: 'file:///etc' }] };
    const rest = { inputResponses: { r: roots, e: { action: 'accept' } }, requestState: 's' };
    for (const { name } of [open, shut])
      for (const more of [{ client, host: fakeHost() }, {}]) await kimi.call(`${name}__plain`, {}, { rest, ...more });
    for (const { inputResponses } of open.upstream.calls)
      expect(inputResponses).toEqual({ r: { roots: [{ uri: 'file:///srv' }] }, e: { action: 'accept' } });
    for (const { inputResponses } of shut.upstream.calls)
      expect(inputResponses).toEqual({ r: { roots: [] }, e: { action: 'accept' } });
    expect(open.upstream.told[0]).toEqual(everything);
    expect(shut.upstream.told[0]).not.toHaveProperty('roots');
  });
});
