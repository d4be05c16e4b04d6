// Calls, lists, progress, cancellation and list changes as an agent lives them, over the agent door.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, notice, openSession, openTestDoor, rpc, type TestDoor } from '../../../test/support/agent-door.ts';
import { toolText } from '../../../test/support/fake-dispatch.ts';
import { openStream } from '../../../test/support/mcp-stream.ts';
import { rawSocket } from '../../../test/support/raw-socket.ts';
import { AppError } from '../../kernel/errors.ts';
import type { NoticeStream } from './in-flight.ts';

let door: TestDoor;
let session: string;

beforeEach(async () => {
  door = await openTestDoor();
  session = await openSession(door);
});

afterEach(() => door.close());

async function body(id: number | string, method: string, params?: object): Promise<string> {
  return (await ask(door, { headers: { 'mcp-session-id': session }, body: rpc(id, method, params) })).body;
}

function tell(method: string, params?: object): Promise<unknown> {
  return ask(door, { headers: { 'mcp-session-id': session }, body: notice(method, params) });
}

function textOf(answer: string): { text: string; isError: boolean } {
  const { result } = JSON.parse(answer) as { result: { content: { text: string }[]; isError?: boolean } };
  return { text: result.content[0]?.text ?? '', isError: result.isError ?? false };
}

describe('calls', () => {
  test('[DOOR-11] the result text of the upstream reaches the agent byte for byte, also as an event', async () => {
    const value = fc.json({ maxDepth: 4 }).filter((text) => text.isWellFormed());
    const gap = fc.stringMatching(/^[ \t]{0,3}$/);
    await fc.assert(
      fc.asyncProperty(
        value,
        gap,
        fc.oneof(fc.integer(), fc.string({ minLength: 1 })),
        fc.boolean(),
        async (json, space, id, streamed) => {
          const result = `{${space}"content":[]${space},"structuredContent":${json},"n":1.00,"big":9007199254740993${space}}`;
          door.dispatch.tools_.set('up__raw', async ({ onProgress }) => {
            onProgress?.({ progress: 1 });
            return { kind: 'upstream', result };
          });
          const meta = streamed ? { _meta: { progressToken: 1 } } : {};
          const answer = await body(id, 'tools/call', { name: 'up__raw', ...meta });
          expect(answer.includes(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`)).toBe(true);
          expect(answer.startsWith('event:')).toBe(streamed);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('[DOOR-11] the error object of the upstream reaches the agent as it is', async () => {
    expect(await body(4, 'tools/call', { name: 'up__fails' })).toBe(
      '{"jsonrpc":"2.0","id":4,"error":{"code":-32050,"message":"own words","data":{"deep":[1]}}}',
    );
  });

  test('arguments, unknown params and _meta arrive as they were sent, the progress token does not', async () => {
    await body(1, 'tools/call', {
      name: 'up__echo',
      arguments: { a: [1.5, null] },
      vendor: 1,
      _meta: { progressToken: 9, 'x/y': {} },
    });
    expect(door.dispatch.calls[0]).toMatchObject({
      caller: { kind: 'agent', agent: 'kimi', session },
      call: { name: 'up__echo', args: { a: [1.5, null] }, rest: { vendor: 1, _meta: { 'x/y': {} } } },
    });
    expect(door.dispatch.calls[0]?.call.rest['_meta']).not.toHaveProperty('progressToken');
  });

  test('[TOOL-7] the answer of an own tool is pretty JSON text', async () => {
    const answer = textOf(await body(1, 'tools/call', { name: 'scopegate_can_i', arguments: { x: 1 } }));
    expect(answer).toEqual({ text: '{\n  "decision": "allow",\n  "asked": {\n    "x": 1\n  }\n}', isError: false });
  });

  test('[TOOL-7] an unknown tool is ERROR text, an unexpected failure an envelope without its words', async () => {
    expect(textOf(await body(1, 'tools/call', { name: 'no"pe' }))).toEqual({ text: "ERROR: Unknown tool 'no\"pe'", isError: true });
    const { text, isError } = textOf(await body(2, 'tools/call', { name: 'up__breaks' }));
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ error: true, next_action: 'human' });
    expect(text).not.toContain('secret');
  });

  test('params that are none are -32602', async () => {
    expect(JSON.parse(await body(1, 'tools/call', { arguments: {} }))).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(JSON.parse(await body(2, 'tools/list', { cursor: 7 }))).toMatchObject({ id: 2, error: { code: -32602 } });
  });

  test('an id that is still being answered is refused, and the first call goes on', async () => {
    const first = body('same', 'tools/call', { name: 'up__hangs', arguments: { n: 1 } });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    expect(JSON.parse(await body('same', 'tools/call', { name: 'up__echo' }))).toMatchObject({ error: { code: -32600 } });
    expect(door.dispatch.cancelled).toEqual([]);
    await tell('notifications/cancelled', { requestId: 'same' });
    expect(await first).toBe('');
  });
});

describe('progress', () => {
  test('[DOOR-5] notices come under the token of the caller, in order and before the result, also when all come at once', async () => {
    for (const progressToken of [0, 'tok"en']) {
      const stream = await openStream(door, session, {
        body: rpc(5, 'tools/call', { name: 'up__progress', arguments: { n: 50 }, _meta: { progressToken } }),
      });
      await stream.ended;
      expect(stream.contentType).toBe('text/event-stream');
      expect(stream.events).toEqual([
        ...Array.from({ length: 50 }, (_, step) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progress: step + 1, total: 50, message: `step ${step + 1}`, progressToken },
        })),
        { jsonrpc: '2.0', id: 5, result: { content: [{ type: 'text', text: 'done' }] } },
      ]);
    }
  });

  test('without a token, and for a client that takes no events, the answer is plain JSON', async () => {
    const params = { name: 'up__progress', arguments: { n: 3 } };
    expect(await body(1, 'tools/call', params)).toMatch(/^\{"jsonrpc"/);
    const { headers, body: plain } = await ask(door, {
      headers: { 'mcp-session-id': session, accept: 'application/json' },
      body: rpc(2, 'tools/call', { ...params, _meta: { progressToken: 1 } }),
    });
    expect(headers['content-type']).toBe('application/json');
    expect(plain).toBe('{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}');
  });
});

describe('a client that does not read', () => {
  const reading = (method: string, rest: string): string =>
    `${method} /mcp HTTP/1.1\r\nHost: ${door.url.host}\r\nAuthorization: Bearer token-kimi\r\nAccept: text/event-stream, application/json\r\nMcp-Session-Id: ${session}\r\n${rest}`;

  test('[DOOR-5] a flood of notices is not kept for it, and the answer is not lost', async () => {
    const flood = 50_000;
    const peer = await rawSocket(Number(door.url.port));
    peer.socket.pause();
    door.dispatch.tools_.set('up__flood', async ({ onProgress }) => {
      for (let step = 1; step <= flood; step += 1) onProgress?.({ progress: step, message: 'x'.repeat(200) });
      return { kind: 'upstream', result: '{"content":[],"flooded":true}' };
    });
    const sent = rpc(1, 'tools/call', { name: 'up__flood', _meta: { progressToken: 1 } });
    peer.socket.write(reading('POST', `Content-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n${sent}`));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    peer.socket.resume();
    const heard = await peer.until(/"flooded":true/);
    expect(heard.length).toBeLessThan(20_000_000);
    expect(heard.match(/notifications\/progress/g)?.length).toBeLessThan(flood);
    peer.socket.destroy();
  });

  test('[DOOR-8] its notice stream is cut once it is too far behind', async () => {
    const peer = await rawSocket(Number(door.url.port), reading('GET', '\r\n'));
    await peer.until(/keep-alive/);
    peer.socket.pause();
    const stream = [...sessionStreams()][0];
    for (let turn = 0; turn < 200_000 && sessionStreams().length > 0; turn += 1) {
      stream?.send('x'.repeat(1_000));
      if (turn % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sessionStreams()).toEqual([]);
    peer.socket.destroy();
  });

  function sessionStreams(): NoticeStream[] {
    const found = door.endpoint.find(session, 'kimi', { kind: 'all' });
    return found?.stream === undefined ? [] : [found.stream];
  }
});

describe('cancellation', () => {
  test('[DOOR-6] notifications/cancelled aborts exactly that call, whose exchange ends without an answer', async () => {
    const calls = [1, 2].map((n) =>
      ask(door, { headers: { 'mcp-session-id': session }, body: rpc(n, 'tools/call', { name: 'up__hangs', arguments: { n } }) }),
    );
    await expect.poll(() => door.dispatch.calls.length).toBe(2);
    await tell('notifications/cancelled', { requestId: 2, reason: 'changed my mind' });
    expect(await calls[1]).toMatchObject({ status: 202, body: '' });
    expect(door.dispatch.cancelled).toEqual([2]);
    await tell('notifications/cancelled', { requestId: 1 });
    await calls[0];
    expect(door.dispatch.cancelled).toEqual([2, 1]);
  });

  test('[DOOR-6] a cancelled call that was streaming just ends', async () => {
    door.dispatch.tools_.set('up__both', (call) => {
      call.onProgress?.({ progress: 1 });
      return door.dispatch.tools_.get('up__hangs')!(call, door.dispatch.calls[0]!.caller);
    });
    const stream = await openStream(door, session, {
      body: rpc(1, 'tools/call', { name: 'up__both', _meta: { progressToken: 1 } }),
    });
    await expect.poll(() => stream.events.length).toBe(1);
    await tell('notifications/cancelled', { requestId: 1 });
    await stream.ended;
    expect(stream.events).toHaveLength(1);
  });

  test('[DOOR-6] a dropped connection aborts the call', async () => {
    const abort = new AbortController();
    const call = ask(door, {
      headers: { 'mcp-session-id': session },
      body: rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 3 } }),
      signal: abort.signal,
    });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    abort.abort();
    await expect(call).rejects.toThrow('aborted');
    await expect.poll(() => door.dispatch.cancelled).toEqual([3]);
  });

  test('cancelling what is unknown, answered, or of another session does nothing', async () => {
    const other = await openSession(door, 'token-rosa');
    const call = body(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    await ask(door, {
      headers: { authorization: 'Bearer token-rosa', 'mcp-session-id': other },
      body: notice('notifications/cancelled', { requestId: 1 }),
    });
    await tell('notifications/cancelled', { requestId: '1' });
    await tell('notifications/cancelled', {});
    expect(door.dispatch.cancelled).toEqual([]);
    await tell('notifications/cancelled', { requestId: 1 });
    await call;
  });
});

describe('lists', () => {
  async function page(cursor?: string): Promise<{ names: string[]; nextCursor: string | undefined }> {
    const answer = JSON.parse(await body(1, 'tools/list', cursor === undefined ? {} : { cursor })) as {
      result: { tools: { name: string }[]; nextCursor?: string };
    };
    return { names: answer.result.tools.map(({ name }) => name), nextCursor: answer.result.nextCursor };
  }

  const names = Array.from({ length: 250 }, (_, index) => `up__tool-${index}`);

  test('[DOOR-7] pages follow each other in the order of the gateway and cover the list once', async () => {
    door.dispatch.listed = names.map(toolText);
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const next = await page(cursor);
      seen.push(...next.names);
      cursor = next.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(seen).toEqual(names);
    expect(pages).toBe(3);
  });

  test('tools are listed as the very text the gateway gave', async () => {
    door.dispatch.listed = [toolText('up__odd')];
    expect(await body(1, 'tools/list')).toBe(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${toolText('up__odd')}]}}`);
  });

  test('[DOOR-7] a list that changed between pages neither repeats nor skips a tool that stayed', async () => {
    door.dispatch.listed = names.map(toolText);
    const { nextCursor } = await page();
    door.dispatch.listed = names.slice(40).map(toolText);
    expect((await page(nextCursor)).names[0]).toBe('up__tool-100');
    door.dispatch.listed = ['up__new', ...names].map(toolText);
    expect((await page(nextCursor)).names[0]).toBe('up__tool-100');
  });

  test.each([
    '',
    'x',
    '%',
    btoa('1.100'),
    btoa('1.100.zzzzzzzz'),
    btoa('1.-1.00000000'),
    btoa('1.0.00000000'),
    btoa('2.100.00000000'),
    btoa('1.999999999.00000000'),
  ])('[DOOR-7] the cursor %j is -32602', async (cursor) => {
    door.dispatch.listed = names.map(toolText);
    expect(JSON.parse(await body(1, 'tools/list', { cursor }))).toMatchObject({ id: 1, error: { code: -32602 } });
  });
});

describe('list changes', () => {
  const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

  test('[DOOR-8] a change reaches every open session, a burst of changes once', async () => {
    const rosa = await openSession(door, 'token-rosa');
    const streams = [await openStream(door, session), await openStream(door, rosa, { token: 'token-rosa' })];
    for (let turn = 0; turn < 20; turn += 1) door.dispatch.change();
    await expect.poll(() => streams.map(({ events }) => events)).toEqual([[changed], [changed]]);
    door.dispatch.change();
    await expect.poll(() => streams.map(({ events }) => events.length)).toEqual([2, 2]);
    for (const stream of streams) stream.drop();
  });

  test('[DOOR-8] a change while nobody listened is told when somebody does', async () => {
    door.dispatch.change();
    await new Promise((resolve) => setTimeout(resolve, 80));
    const stream = await openStream(door, session);
    await expect.poll(() => stream.events).toEqual([changed]);
    stream.drop();
  });

  test('a second stream takes the place of the first', async () => {
    const first = await openStream(door, session);
    const second = await openStream(door, session);
    await first.ended;
    door.dispatch.change();
    await expect.poll(() => second.events).toEqual([changed]);
    expect(first.events).toEqual([]);
    second.drop();
  });
});

describe('closing', () => {
  test('calls may finish within the grace, streams end at once, and nothing listens any more', async () => {
    let finish: (() => void) | undefined;
    door.dispatch.tools_.set('up__slow', async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return { kind: 'upstream', result: '{"content":[]}' };
    });
    const stream = await openStream(door, session);
    const call = body(1, 'tools/call', { name: 'up__slow' });
    await expect.poll(() => finish).toBeDefined();
    const closing = door.endpoint.close(5_000);
    await stream.ended;
    expect(JSON.parse(await body(2, 'tools/call', { name: 'up__echo' }))).toMatchObject({
      error: { message: expect.stringContaining('stopping') as string },
    });
    finish?.();
    expect(await call).toBe('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}');
    await closing;
    expect(door.endpoint.size()).toBe(0);
    expect(door.dispatch.listeners()).toBe(0);
  });

  test('a call that outlives the grace is answered with an error and stopped', async () => {
    const call = body(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } });
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    await door.endpoint.close(20);
    expect(JSON.parse(await call)).toMatchObject({ id: 1, error: { code: -32001 } });
    expect(door.dispatch.cancelled).toEqual([1]);
  });

  test('a refusal of the gateway is drawn, not thrown', async () => {
    door.dispatch.tools_.set('up__denied', () =>
      Promise.reject(new AppError('denied', 'policy.denied', "ERROR: Capability 'x' not granted.", { data: { deny: 'no_rule' } })),
    );
    const { text, isError } = textOf(await body(1, 'tools/call', { name: 'up__denied' }));
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ kind: 'missing_scope', message: "ERROR: Capability 'x' not granted." });
  });
});
