// Calls of 2026-07-28 whose upstream asks back, over real sockets: what the client is shown, how it goes on, and who may go on with what. The
// attacker is another client of the same agent, or another agent.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  able,
  accept,
  form,
  heard,
  meta,
  openParkingDoor,
  refused,
  stateOf,
  type ParkingDoor,
} from '../../../test/support/parking-door.ts';
import { envelope, statelessAsk, statelessStream, type Params } from '../../../test/support/stateless-agent.ts';

let up: ParkingDoor;

beforeEach(async () => {
  up = await openParkingDoor();
});

afterEach(() => up.door.close());

describe('asking', () => {
  test('[PARK-1] the question answers the call as it was written, and the repeated request goes on with the call, which ran once', async () => {
    const first = await up.call({}, { id: 'a' });
    expect(stateOf(first)).toMatch(/^sallyport:[0-9a-f-]{36}$/);
    expect(first.body).toContain(`"inputRequests":{"ask-1":{"method":"elicitation/create","params":${form}}}`);
    const second = await up.again(stateOf(first), { 'ask-1': accept }, {}, { id: 'b' });
    expect(second.reply).toEqual({ jsonrpc: '2.0', id: 'b', result: { resultType: 'complete', content: [], 'x-heard': accept } });
    expect([up.runs, up.got]).toEqual([1, [accept]]);
    expect(up.door.endpoint.stateless.parked()).toBe(0);
  });

  test('[PARK-1] one question after another is one round after another, each under a state of its own', async () => {
    up.door.dispatch.tools_.set('up__sure', async (asked) => {
      await up.put(asked, 'roots/list');
      await up.put(asked, 'sampling/createMessage', '{"messages":[],"maxTokens":1}');
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const first = await up.call();
    expect(first.reply.result?.['inputRequests']).toEqual({ 'ask-1': { method: 'roots/list' } });
    const second = await up.again(stateOf(first), { 'ask-1': { roots: [] } });
    expect(second.reply.result?.['inputRequests']).toMatchObject({ 'ask-2': { method: 'sampling/createMessage' } });
    expect(stateOf(second)).not.toBe(stateOf(first));
    const sampled = { role: 'assistant', model: 'm', content: { type: 'text', text: 't' } };
    expect((await up.again(stateOf(second), { 'ask-2': sampled })).reply.result).toMatchObject({ resultType: 'complete' });
    expect(up.got).toEqual([{ roots: [] }, sampled]);
  });

  test('[PARK-1] what is asked at once is shown at once, what is asked while the call waits comes in the next round', async () => {
    let later: (() => void) | undefined;
    up.door.dispatch.tools_.set('up__sure', async (asked) => {
      const late = new Promise<void>((resolve) => (later = resolve)).then(() => up.put(asked, 'roots/list'));
      await Promise.all([up.put(asked, 'roots/list'), up.put(asked, 'elicitation/create', form), late]);
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const first = await up.call();
    expect(Object.keys(first.reply.result?.['inputRequests'] as object)).toEqual(['ask-1', 'ask-2']);
    later?.();
    const second = await up.again(stateOf(first), { 'ask-1': { roots: [] }, 'ask-2': accept });
    expect(Object.keys(second.reply.result?.['inputRequests'] as object)).toEqual(['ask-3']);
    expect((await up.again(stateOf(second), { 'ask-3': { roots: [] } })).reply.result).toMatchObject({ resultType: 'complete' });
  });

  test('[PARK-1] an answer that comes while nobody is there waits for the client, under the id it comes with', async () => {
    const withdraw = new AbortController();
    let finish: ((result: string) => void) | undefined;
    up.door.dispatch.tools_.set('up__sure', ({ host }) => {
      void up.put({ host: host!, signal: withdraw.signal }, 'elicitation/create', form).catch(() => undefined);
      return new Promise((resolve) => (finish = (result) => resolve({ kind: 'upstream', result })));
    });
    const state = stateOf(await up.call({}, { id: 'first' }));
    withdraw.abort();
    finish?.('{"content":[],"x":1.0}');
    await expect.poll(() => up.got).toMatchObject([{ gone: 'fleet.cancelled' }]);
    const late = await up.again(state, { 'ask-1': accept }, {}, { id: 7 });
    expect(late.body).toBe('{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[],"x":1.0}}');
    expect((await up.again(state)).reply).toMatchObject(refused);
  });

  test('[PARK-1] progress comes under the token of the request that is there', async () => {
    up.door.dispatch.tools_.set('up__sure', async (asked) => {
      asked.onProgress?.({ progress: 1 });
      await up.put(asked, 'elicitation/create', form);
      asked.onProgress?.({ progress: 2 });
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const params = { name: 'up__sure', arguments: { n: 1 } };
    const first = await statelessStream(up.door, 'tools/call', { ...params, _meta: meta({ progressToken: 'one' }) });
    await first.ended;
    const state = first.messages.at(-1)?.result?.['requestState'];
    const more = { requestState: state, inputResponses: { 'ask-1': accept }, _meta: meta({ progressToken: 'two' }) };
    const second = await statelessStream(up.door, 'tools/call', { ...params, ...more }, { id: 2 });
    await second.ended;
    expect(
      [first, second].flatMap(({ messages }) => messages.map(({ id, params: note }) => note?.['progressToken'] ?? id)),
    ).toEqual(['one', 1, 'two', 2]);
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  test('[PARK-1] prompts and resources ask back too, and a state of an upstream goes to it untouched', async () => {
    up.door.dispatch.relays = async (request) => heard(await up.put(request, 'elicitation/create', form));
    for (const [method, params] of [
      ['prompts/get', { name: 'up__p', arguments: { a: 'b' } }],
      ['resources/read', { uri: 'a:b' }],
    ] as const) {
      const state = stateOf(await statelessAsk(up.door, method, { ...params, _meta: meta() }));
      const more = { _meta: meta(), requestState: state, inputResponses: { 'ask-1': accept } };
      expect((await statelessAsk(up.door, method, { ...params, ...more })).reply.result).toMatchObject({ 'x-heard': accept });
    }
    await up.call({ name: 'up__echo', requestState: 'theirs', inputResponses: { q: {} } });
    expect(up.door.dispatch.calls.at(-1)?.call.rest).toEqual({ requestState: 'theirs', inputResponses: { q: {} } });
  });
});

describe('who is asked', () => {
  test('[PARK-4] a client that can do nothing special has nobody behind its calls', async () => {
    await up.call({ _meta: envelope(), name: 'up__echo' });
    await up.call({ _meta: meta(), name: 'up__echo' });
    expect(up.door.dispatch.calls.map(({ call: { host } }) => host?.capabilities)).toEqual([undefined, able]);
    expect(up.door.dispatch.calls[1]?.call.host?.info).toEqual({ name: 'bare', version: '1' });
  });

  test('[PARK-4] what it did not declare it is not shown: the upstream is refused, and may go on', async () => {
    up.door.dispatch.tools_.set('up__sure', async (asked) => {
      await up.put(asked, 'roots/list');
      await up.put(asked, 'elicitation/create', '{"mode":"url","message":"m","url":"https://a","elicitationId":"e"}');
      await up.put(asked, 'ping');
      await up.put(asked, 'sampling/createMessage');
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const only = { sampling: {}, elicitation: {} };
    const answer = await up.call({ _meta: meta({ 'io.modelcontextprotocol/clientCapabilities': only }) });
    expect(answer.reply.result).toMatchObject({ resultType: 'complete' });
    expect(up.got).toMatchObject([
      { code: -32021, data: { requiredCapabilities: { roots: {} } } },
      { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
      { code: -32601 },
      { code: -32602 },
    ]);
  });

  test('[PARK-4] a request that may not be answered with a question is not', async () => {
    up.door.dispatch.relays = async (request) => {
      await up.put(request, 'elicitation/create', form).catch(() => undefined);
      return { kind: 'upstream', result: '{"completion":{"values":[]}}' };
    };
    const params = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' }, _meta: meta() };
    expect((await statelessAsk(up.door, 'completion/complete', params)).reply.result).toMatchObject({ resultType: 'complete' });
    expect(up.got).toMatchObject([{ gone: 'host.gone' }]);
  });

  test('[PARK-4] nobody is asked after the call is over', async () => {
    let late: (() => Promise<unknown>) | undefined;
    up.door.dispatch.tools_.set('up__sure', async (asked) => {
      late = () => up.put(asked, 'elicitation/create', form);
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    await up.call();
    await expect(late?.()).rejects.toMatchObject({ code: 'host.gone', kind: 'unavailable' });
  });
});

describe('who may go on', () => {
  test('[PARK-2] a state is used once, and a replay runs nothing', async () => {
    const state = stateOf(await up.call());
    expect((await up.again(state)).reply.result).toMatchObject({ resultType: 'complete' });
    expect((await up.again(state)).reply).toMatchObject(refused);
    expect(up.runs).toBe(1);
  });

  test('[PARK-2] two that come with one state at once: one goes on, the other is refused', async () => {
    const state = stateOf(await up.call());
    const both = await Promise.all([up.again(state), up.again(state)]);
    expect(both.map(({ reply }) => reply.error?.code ?? 'went on').toSorted((one) => (one === 'went on' ? 1 : -1))).toEqual([
      -32602,
      'went on',
    ]);
    expect(up.runs).toBe(1);
  });

  test.each(['sallyport:', 'sallyport:00000000-0000-4000-8000-000000000000', 'sallyport:../x', `sallyport:${'x'.repeat(100_000)}`])(
    '[PARK-2] a state that was never given runs nothing, whether or not something waits',
    async (state) => {
      for (const _ of [1, 2]) {
        expect((await up.again(state)).reply).toMatchObject(refused);
        stateOf(await up.call());
      }
      expect(up.runs).toBe(2);
    },
  );

  test('[PARK-2] another agent cannot use it, nor is it used up by the try', async () => {
    const state = stateOf(await up.call());
    await up.call({}, { token: 'token-rosa' });
    expect((await up.again(state, undefined, {}, { token: 'token-rosa' })).reply).toMatchObject(refused);
    expect((await up.again(state)).reply.result).toMatchObject({ 'x-heard': accept });
  });

  test.each<[string, Params, { path?: string }]>([
    ['other arguments', { arguments: { n: 2 } }, {}],
    ['none', { arguments: undefined }, {}],
    ['another tool', { name: 'up__echo' }, {}],
    ['other capabilities', { _meta: meta({ 'io.modelcontextprotocol/clientCapabilities': { ...able, x: {} } }) }, {}],
    ['another endpoint', {}, { path: '/mcp/upstreams/up' }],
  ])('[PARK-2] a client of the same agent with %s cannot use it, and the call still waits for its own', async (_, more, where) => {
    const state = stateOf(await up.call());
    expect((await up.again(state, { 'ask-1': accept }, more, where)).reply).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('another request') as string },
    });
    expect(up.door.dispatch.calls).toHaveLength(1);
    expect((await up.again(state)).reply.result).toMatchObject({ 'x-heard': accept });
  });

  test('[PARK-2] two clients with the same ids do not get each other’s answers, and arguments in another order are the same', async () => {
    const of = (n: number): Params => ({ arguments: { n, b: 1 } });
    const states = [stateOf(await up.call(of(1))), stateOf(await up.call(of(2)))];
    const say = (n: number): unknown => ({ 'ask-1': { action: 'accept', content: { n } } });
    expect((await up.again(states[1]!, say(1), of(1))).reply).toMatchObject(refused);
    const answers = await Promise.all([
      up.again(states[0]!, say(1), { arguments: { b: 1, n: 1 } }),
      up.again(states[1]!, say(2), of(2)),
    ]);
    expect(answers.map(({ reply }) => reply.result?.['x-heard'])).toMatchObject([{ content: { n: 1 } }, { content: { n: 2 } }]);
  });

  test.each<[string, unknown]>([
    ['none', undefined],
    ['no object', [accept]],
    ['none of them', {}],
    ['one too many', { 'ask-1': accept, 'ask-2': accept }],
    ['one of the wrong shape', { 'ask-1': { action: 'maybe' } }],
  ])('[PARK-3] with responses that are %s the call waits on, and can still be answered', async (_, responses) => {
    const state = stateOf(await up.call());
    const wrong = await up.call({ requestState: state, inputResponses: responses });
    expect(wrong.reply).toMatchObject({ error: { code: -32602, message: expect.stringContaining('ask-1') as string } });
    expect(up.got).toEqual([]);
    expect((await up.again(state)).reply.result).toMatchObject({ 'x-heard': accept });
    expect(up.runs).toBe(1);
  });
});

test('[PARK-2] [PARK-3] [ERA-10] whatever comes with a state, the call runs once, every answer is one the schema knows, and the right one still counts', async () => {
  const state = stateOf(await up.call());
  const spoiled = fc.record({
    requestState: fc.oneof(
      fc.constant(state),
      fc.string().map((text) => `sallyport:${text}`),
      fc.constant(`${state} `),
    ),
    inputResponses: fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.dictionary(fc.constantFrom('ask-1', 'ask-2', '__proto__'), fc.jsonValue({ maxDepth: 2 })),
    ),
    arguments: fc.constantFrom<Params>({ n: 1 }, { n: 2 }, {}),
  });
  await fc.assert(
    fc.asyncProperty(spoiled, async (params) => {
      const { status, reply } = await up.call(JSON.parse(JSON.stringify(params)) as Params);
      expect([status, reply.error?.code]).toEqual([200, -32602]);
    }),
    { numRuns: 150 },
  );
  expect((await up.again(state)).reply.result).toMatchObject({ 'x-heard': accept });
  expect(up.runs).toBe(1);
});
