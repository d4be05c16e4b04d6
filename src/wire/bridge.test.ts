// The stdio bridge against a real agent door, with lines in and lines out.
import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { initialize, notice, openTestDoor, rpc, type TestDoor } from '../../test/support/agent-door.ts';
import { startBridge, type RunningBridge } from '../../test/support/running-bridge.ts';
import { AppError } from '../kernel/errors.ts';
import type { DaemonAddress } from './bridge-target.ts';

let door: TestDoor;
let running: RunningBridge[];

function bridge(endpoint: DaemonAddress = { url: door.url.href }, token = 'token-kimi', drainMs = 100): RunningBridge {
  const one = startBridge(endpoint, token, drainMs);
  running.push(one);
  return one;
}

async function connected(endpoint?: DaemonAddress): Promise<RunningBridge> {
  const one = bridge(endpoint);
  one.say(initialize, notice('notifications/initialized'));
  await one.answerTo('init');
  return one;
}

beforeEach(async () => {
  running = [];
  door = await openTestDoor();
});

afterEach(async () => {
  for (const { input, done } of running) {
    input.end();
    await done.catch(() => undefined);
  }
  await door.close();
});

describe('relaying', () => {
  test('[DOOR-9] a whole conversation piped in at once is answered, in the order that matters, and the session is closed', async () => {
    const one = bridge();
    one.say(
      initialize,
      notice('notifications/initialized'),
      rpc(1, 'tools/list'),
      rpc('two', 'tools/call', { name: 'up__echo', arguments: { a: 1 } }),
    );
    one.input.end();
    await one.done;
    expect(one.heard[0]).toMatchObject({
      id: 'init',
      result: { protocolVersion: '2025-11-25', serverInfo: { name: 'sallyport' } },
    });
    expect(await one.answerTo(1)).toMatchObject({ result: { tools: [{ name: 'scopegate_can_i' }, {}, {}, {}] } });
    expect(await one.answerTo('two')).toMatchObject({ result: { content: [{ text: '{"a":1}' }] } });
    expect(door.endpoint.size()).toBe(0);
  });

  test('[DOOR-11] results come out as the text they were, line breaks between tokens apart', async () => {
    const one = await connected();
    door.dispatch.tools_.set('up__raw', async () => ({ kind: 'upstream', result: '{"content":[],\n "n":1.00,\r\n "t":"a\\nb"}' }));
    one.say(rpc(1, 'tools/call', { name: 'up__raw' }));
    await one.answerTo(1);
    expect(one.raw.at(-1)).toBe('{"jsonrpc":"2.0","id":1,"result":{"content":[],  "n":1.00,   "t":"a\\nb"}}');
  });

  test('[DOOR-9] progress comes before its result, in order', async () => {
    const one = await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__progress', arguments: { n: 20 }, _meta: { progressToken: 'p' } }));
    await one.answerTo(1);
    expect(one.heard.slice(1, -1).map(({ params }) => (params as { progress: number }).progress)).toEqual(
      Array.from({ length: 20 }, (_, step) => step + 1),
    );
    expect(one.heard.at(-1)).toMatchObject({ id: 1 });
  });

  test('[DOOR-9] a change of the tools reaches the client', async () => {
    const one = await connected();
    await expect
      .poll(
        () => {
          door.dispatch.change();
          return one.heard.map(({ method }) => method);
        },
        { interval: 100 },
      )
      .toContain('notifications/tools/list_changed');
  });

  test('[DOOR-6] a cancellation reaches the call, which is not answered; others go on', async () => {
    const one = await connected();
    one.say(
      rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } }),
      rpc(2, 'tools/call', { name: 'up__hangs', arguments: { n: 2 } }),
    );
    one.say(notice('notifications/cancelled', { requestId: 1 }), rpc(3, 'ping'));
    await one.answerTo(3);
    await expect.poll(() => door.dispatch.cancelled).toEqual([1]);
    expect(one.heard.map(({ id }) => id)).toEqual(['init', 3]);
  });

  test('[DOOR-11] a result of megabytes goes through whole to a client that reads late', async () => {
    const one = await connected();
    const result = `{"content":[{"type":"text","text":"${'é'.repeat(3_000_000)}"}]}`;
    door.dispatch.tools_.set('up__big', async () => ({ kind: 'upstream', result }));
    one.output.pause();
    one.say(rpc(1, 'tools/call', { name: 'up__big' }), rpc(2, 'tools/call', { name: 'up__big' }));
    await expect.poll(() => door.dispatch.calls.length).toBe(2);
    one.output.resume();
    await one.answerTo(1);
    await one.answerTo(2);
    expect(one.raw.slice(1).sort()).toEqual([1, 2].map((id) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`));
  });

  test('a slow call does not hold up a quick one', async () => {
    const one = await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } }), rpc(2, 'tools/call', { name: 'up__echo' }));
    expect(await one.answerTo(2)).toMatchObject({ id: 2 });
  });

  test('[DOOR-9] the end of the input cancels what is in flight and ends the session', async () => {
    const one = await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } }));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    one.input.end();
    await one.done;
    await expect.poll(() => door.dispatch.cancelled).toEqual([1]);
    await expect.poll(() => door.endpoint.size()).toBe(0);
  });

  test('a client that no longer reads ends the bridge', async () => {
    const one = await connected();
    one.output.destroy();
    await one.done;
    expect(door.endpoint.size()).toBe(0);
  });

  test('[DOOR-9] a unix socket is an address too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bridge-'));
    const socketPath = join(folder, 'door.sock');
    const front: Server = createServer((request, response) => {
      response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 'init',
          result: { protocolVersion: '2025-11-25', seen: `${request.method} ${request.url}` },
        }),
      );
    });
    await new Promise<void>((resolve) => void front.listen(socketPath, resolve));
    const one = bridge({ socketPath, path: '/mcp/gate' });
    one.say(initialize);
    expect(await one.answerTo('init')).toMatchObject({ result: { seen: 'POST /mcp/gate' } });
    one.input.end();
    await one.done;
    front.close();
    rmSync(folder, { recursive: true });
  });
});

describe('what goes wrong', () => {
  test.each(['', ' ', 'two words', 'line\nbreak'])('[DOOR-9] without a usable token (%j) it does not start', async (token) => {
    const one = bridge(undefined, token);
    await expect(one.done).rejects.toThrow(AppError);
    await expect(one.done).rejects.toMatchObject({
      code: 'bridge.no_token',
      hint: expect.stringContaining('SALLYPORT_TOKEN') as string,
    });
  });

  test('[DOOR-9] a wrong token is told with what to do, and the token is not repeated', async () => {
    const one = bridge(undefined, 'token-wrong');
    one.say(initialize);
    const { error } = await one.answerTo('init');
    expect(error?.message).toMatch(/SALLYPORT_TOKEN/);
    expect(one.raw.join() + one.log.lines.join()).not.toContain('token-wrong');
  });

  test('[DOOR-9] no daemon is told with the address and the command, and a daemon that comes is used', async () => {
    const port = Number(door.url.port);
    await door.close();
    const one = bridge();
    one.say(initialize);
    expect((await one.answerTo('init')).error?.message).toBe(
      `No Sallyport daemon answers at http://127.0.0.1:${port}/mcp. Start it with: sallyport up`,
    );
    door = await openTestDoor({}, {}, port);
    one.say(rpc('again', 'initialize', { protocolVersion: '2025-06-18' }), rpc(1, 'ping'));
    expect(await one.answerTo('again')).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
    expect(await one.answerTo(1)).toMatchObject({ result: {} });
  });

  test('[DOOR-9] a daemon that restarted is met with a new session, and the client is told to list again', async () => {
    const one = await connected();
    const port = Number(door.url.port);
    await door.close();
    one.say(rpc(1, 'ping'));
    expect((await one.answerTo(1)).error?.message).toMatch(/sallyport up/);
    door = await openTestDoor({}, {}, port);
    one.say(...[2, 3, 4, 5].map((id) => rpc(id, 'tools/call', { name: 'up__echo', arguments: { id } })));
    for (const id of [2, 3, 4, 5])
      expect(await one.answerTo(id)).toMatchObject({ result: { content: [{ text: `{"id":${id}}` }] } });
    expect(door.dispatch.calls).toHaveLength(4);
    expect(door.endpoint.size()).toBe(1);
    expect(one.heard.filter(({ method }) => method === 'notifications/tools/list_changed')).toHaveLength(1);
    expect(one.heard.some(({ id }) => String(id).startsWith('sallyport-bridge'))).toBe(false);
    // The notice stream is back as well.
    await expect
      .poll(
        () => {
          door.dispatch.change();
          return one.heard.filter(({ method }) => method === 'notifications/tools/list_changed').length;
        },
        // It is opened again with growing patience.
        { interval: 100, timeout: 10_000 },
      )
      .toBeGreaterThan(1);
  });

  test('[REL-9] after a restart the client hears of the lists it was told of, and of no other', async () => {
    door.dispatch.has = { prompts: true, resources: false, completions: true, logging: false, subscriptions: false };
    const one = await connected();
    const port = Number(door.url.port);
    await door.close();
    door = await openTestDoor({}, {}, port);
    one.say(rpc(1, 'ping'));
    await one.answerTo(1);
    expect(one.heard.map(({ method }) => method).filter((method) => method?.endsWith('list_changed'))).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
    ]);
  });

  test('a session the daemon ended is replaced without the client noticing', async () => {
    const one = await connected();
    door.agents.ended('kimi');
    one.say(rpc(1, 'tools/call', { name: 'up__echo', arguments: {} }));
    expect(await one.answerTo(1)).toMatchObject({ result: { content: [{ text: '{}' }] } });
    expect(door.dispatch.calls).toHaveLength(1);
  });

  test('[DOOR-9] a connection lost in the middle of a call says that the outcome is unknown', async () => {
    const one = await connected();
    one.say(rpc(1, 'tools/call', { name: 'up__hangs' }));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    await door.door.close(0);
    expect((await one.answerTo(1)).error?.message).toMatch(/may have taken effect/);
  });

  test('[DOOR-9] something else on the port is told as such', async () => {
    const stranger = createServer((_, response) => response.writeHead(404).end('<html>'));
    await new Promise<void>((resolve) => void stranger.listen(0, '127.0.0.1', resolve));
    const one = bridge({ url: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/mcp` });
    one.say(initialize);
    expect((await one.answerTo('init')).error?.message).toMatch(/no Sallyport agent door: it said HTTP 404/);
    one.input.end();
    await one.done;
    stranger.close();
  });

  test('[DOOR-4] broken lines are answered, and the lines after them are read', async () => {
    const one = await connected();
    one.say(
      '{',
      '{"jsonrpc":"2.0","id":9,"id":9,"method":"ping"}',
      '[]',
      '{"jsonrpc":"2.0","id":7}',
      'x'.repeat(5_000_000),
      rpc(1, 'ping'),
    );
    await one.answerTo(1);
    expect(one.heard.slice(1).map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32700],
      [null, -32600],
      [7, -32600],
      [null, -32700],
      [1, undefined],
    ]);
  });

  test('an error of the door keeps its code, under the id of the request', async () => {
    const one = bridge();
    one.say(rpc(1, 'server/discover'));
    expect(await one.answerTo(1)).toMatchObject({
      error: { code: -32000, message: expect.stringContaining('initialize') as string },
    });
  });
});
