// The stdio bridge as a client of 2026-07-28 finds it: no handshake, no session, and nothing lost of what HTTP says in headers.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { initialize, notice, openTestDoor, rpc, type TestDoor } from '../../test/support/agent-door.ts';
import { startBridge, type RunningBridge } from '../../test/support/running-bridge.ts';
import { envelope, judged, statelessBody, type Params, type Reply } from '../../test/support/stateless-agent.ts';
import type { DaemonAddress } from './bridge-target.ts';

let door: TestDoor;
let running: RunningBridge[];

beforeEach(async () => {
  running = [];
  door = await openTestDoor();
});

afterEach(async () => {
  for (const { input, done } of running) {
    input.end();
    await done;
  }
  await door.close();
});

function bridge(endpoint: DaemonAddress = { url: door.url.href }, token = 'token-kimi'): RunningBridge {
  const one = startBridge(endpoint, token, 200);
  running.push(one);
  return one;
}

const tools = { notifications: { toolsListChanged: true } };

function methods({ heard }: RunningBridge): (string | undefined)[] {
  return heard.map(({ method }) => method);
}

/** What stands in for a daemon: answers every POST with `status` and `body`, and keeps what it was sent. */
async function stranger(
  status: number,
  body: string,
  type = 'application/json',
): Promise<{ url: string; seen: IncomingHttpHeaders[]; close(): void }> {
  const seen: IncomingHttpHeaders[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request.headers);
    request.resume();
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen, close: () => server.close() };
}

describe('requests', () => {
  test('[ERA-9] each is an exchange of its own: discovered, listed, called, without a session', async () => {
    const one = bridge();
    one.say(
      statelessBody('d', 'server/discover'),
      statelessBody(2, 'tools/list'),
      statelessBody('c', 'tools/call', { name: 'up__echo', arguments: { a: 1 } }),
    );
    const answers = [
      [await one.answerTo('d'), 'server/discover'],
      [await one.answerTo(2), 'tools/list'],
      [await one.answerTo('c'), 'tools/call'],
    ] as const;
    for (const [answer, method] of answers) judged(answer as Reply, method);
    expect(answers[2][0]).toMatchObject({ result: { resultType: 'complete', content: [{ text: '{"a":1}' }] } });
    expect(door.endpoint.size()).toBe(0);
  });

  test('[ERA-9] headers say what the body says, in base64 where it has to be', async () => {
    const daemon = await stranger(200, '{"jsonrpc":"2.0","id":1,"result":{}}');
    const one = bridge({ url: daemon.url });
    one.say(statelessBody(1, 'tools/call', { name: 'wörk' }));
    await one.answerTo(1);
    one.say(statelessBody(2, 'resources/read', { uri: 'a:b' }), statelessBody(3, 'tools/list'));
    await expect.poll(() => daemon.seen.length).toBe(3);
    const said = daemon.seen.map((head) => [
      head['mcp-protocol-version'],
      head['mcp-method'],
      head['mcp-name'],
      head['mcp-session-id'],
    ]);
    expect(said.sort((a, b) => String(a[1]).localeCompare(String(b[1])))).toEqual([
      ['2026-07-28', 'resources/read', 'a:b', undefined],
      ['2026-07-28', 'tools/call', '=?base64?d8O2cms=?=', undefined],
      ['2026-07-28', 'tools/list', undefined, undefined],
    ]);
    daemon.close();
  });

  test('[ERA-9] [ERA-5] arguments that have to stand in headers are put there, by the list, as it changes', async () => {
    const listed = (header: string): string =>
      JSON.stringify({
        name: 'up__echo',
        inputSchema: { type: 'object', properties: { r: { type: 'string', 'x-mcp-header': header } } },
      });
    const fill = Array.from({ length: 120 }, (_, index) => `{"name":"up__a${index}","inputSchema":{"type":"object"}}`);
    door.dispatch.listed = [...fill, listed('Region')];
    const one = bridge();
    const call = { name: 'up__echo', arguments: { r: 'Zürich' } };
    one.say(statelessBody(1, 'tools/call', { ...call, _meta: envelope({ progressToken: 1 }) }));
    expect(await one.answerTo(1)).toMatchObject({ result: { content: [{ text: '{"r":"Zürich"}' }] } });
    one.say(statelessBody(2, 'tools/call', call));
    await one.answerTo(2);
    door.dispatch.listed = [listed('Place')];
    one.say(statelessBody(3, 'tools/call', call));
    expect(await one.answerTo(3)).toHaveProperty('result');
    expect(door.dispatch.calls).toHaveLength(3);
    expect(one.heard.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  test('[ERA-9] errors of the door come whole, with their data, whatever their status', async () => {
    const one = bridge();
    const future = envelope({ 'io.modelcontextprotocol/protocolVersion': '2031-01-01' });
    one.say(
      statelessBody(1, 'server/discover', { _meta: future }),
      statelessBody(2, 'no/method'),
      statelessBody(3, 'tools/list', { _meta: { ...envelope(), 'io.modelcontextprotocol/clientCapabilities': 1 } }),
      statelessBody(4, 'no method'),
    );
    expect(await one.answerTo(1)).toMatchObject({ error: { code: -32022, data: { requested: '2031-01-01' } } });
    expect(await one.answerTo(2)).toMatchObject({ error: { code: -32601 } });
    expect(await one.answerTo(3)).toMatchObject({ error: { code: -32602 } });
    expect(await one.answerTo(4)).toMatchObject({ error: { code: -32020 } });
  });

  test('[ERA-9] a client that opened so and then forgets its envelope is told of the envelope, not of sessions', async () => {
    const one = bridge();
    one.say(statelessBody(1, 'server/discover'), rpc(2, 'tools/list'));
    expect(await one.answerTo(2)).toMatchObject({ error: { code: -32602, message: expect.stringContaining('_meta') as string } });
  });

  test('[ERA-9] one that falls back to initialize after its probe is served in a session', async () => {
    const one = bridge();
    one.say(statelessBody('probe', 'server/discover'));
    await one.answerTo('probe');
    one.say(initialize, notice('notifications/initialized'), rpc(1, 'tools/call', { name: 'up__echo', arguments: {} }));
    expect(await one.answerTo(1)).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: '{}' }] } });
    expect(door.endpoint.size()).toBe(1);
  });

  test('[ERA-9] a daemon of earlier revisions refuses in its own words, so that a client can fall back', async () => {
    const refusal = '{"jsonrpc":"2.0","id":"probe","error":{"code":-32000,"message":"MCP-Protocol-Version is not spoken here"}}';
    const daemon = await stranger(400, refusal);
    const one = bridge({ url: daemon.url });
    one.say(statelessBody('probe', 'server/discover'));
    await one.answerTo('probe');
    expect(one.raw).toEqual([refusal]);
    daemon.close();
  });

  test('[ERA-8] [DOOR-9] progress comes before its result, in order', async () => {
    const one = bridge();
    one.say(
      statelessBody(1, 'tools/call', { name: 'up__progress', arguments: { n: 20 }, _meta: envelope({ progressToken: 't' }) }),
    );
    await one.answerTo(1);
    expect(one.heard.slice(0, -1).map(({ params }) => (params as Params)['progress'])).toEqual(
      Array.from({ length: 20 }, (_, step) => step + 1),
    );
    expect(one.heard.at(-1)).toMatchObject({ id: 1 });
  });
});

describe('taking back', () => {
  test('[ERA-9] notifications/cancelled closes the exchange: the call is cancelled, nothing more is said of it, others go on', async () => {
    const one = bridge();
    one.say(...[1, 2].map((n) => statelessBody(n, 'tools/call', { name: 'up__hangs', arguments: { n } })));
    await expect.poll(() => door.dispatch.calls.length).toBe(2);
    one.say(
      notice('notifications/cancelled', { requestId: 1, reason: 'enough' }),
      notice('notifications/cancelled', { requestId: 99 }),
    );
    await expect.poll(() => door.dispatch.cancelled).toEqual([1]);
    one.say(statelessBody(3, 'tools/list'));
    await one.answerTo(3);
    expect(one.heard.map(({ id }) => id)).toEqual([3]);
  });

  test('[ERA-9] the end of the input takes everything back', async () => {
    const one = bridge();
    one.say(
      statelessBody(1, 'tools/call', { name: 'up__hangs', arguments: { n: 1 } }),
      statelessBody(2, 'subscriptions/listen', tools),
    );
    await expect.poll(() => door.endpoint.stateless.subscriptions() + door.dispatch.calls.length).toBe(2);
    one.input.end();
    await one.done;
    await expect.poll(() => door.dispatch.cancelled).toEqual([1]);
    await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(0);
  });
});

describe('subscriptions', () => {
  const id = 'sub';

  async function subscribed(): Promise<RunningBridge> {
    const one = bridge();
    one.say(statelessBody(id, 'subscriptions/listen', tools));
    await expect.poll(() => methods(one)).toEqual(['notifications/subscriptions/acknowledged']);
    return one;
  }

  test('[ERA-9] [ERA-6] notices come tagged, and taking it back ends it without a word', async () => {
    const one = await subscribed();
    door.dispatch.change();
    await expect.poll(() => one.heard.length).toBe(2);
    for (const message of one.heard) judged(message as Reply, '');
    one.say(notice('notifications/cancelled', { requestId: id }));
    await expect.poll(() => door.endpoint.stateless.subscriptions()).toBe(0);
    expect(one.heard).toHaveLength(2);
  });

  test('[ERA-9] it outlives a restart of the daemon, and the client hears that its tools may have changed', async () => {
    const one = await subscribed();
    const port = Number(door.url.port);
    await door.close();
    door = await openTestDoor({}, {}, port);
    await expect
      .poll(() => methods(one), { timeout: 10_000 })
      .toEqual(['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']);
    expect(one.heard[1]).toMatchObject({ params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
    door.dispatch.change();
    await expect.poll(() => one.heard.length).toBe(3);
  }, 15_000);

  test('[ERA-9] one to nothing is acknowledged and over', async () => {
    const one = bridge();
    one.say(statelessBody(id, 'subscriptions/listen', { notifications: {} }));
    expect(await one.answerTo(id)).toMatchObject({ result: { resultType: 'complete' } });
    expect(methods(one)).toEqual(['notifications/subscriptions/acknowledged', undefined]);
  });

  test('[ERA-9] [REL-9] after a restart it hears of every list that is promised again, and of no other', async () => {
    const port = Number(door.url.port);
    const reopen = async (): Promise<void> => {
      await door.close();
      door = await openTestDoor({}, {}, port);
      door.dispatch.has = { prompts: true, resources: false, completions: false, logging: false, subscriptions: false };
    };
    await reopen();
    const one = bridge();
    const wishes = { promptsListChanged: true, resourcesListChanged: true };
    one.say(statelessBody(id, 'subscriptions/listen', { notifications: wishes }));
    await expect.poll(() => methods(one)).toEqual(['notifications/subscriptions/acknowledged']);
    await reopen();
    await expect
      .poll(() => methods(one), { timeout: 10_000 })
      .toEqual(['notifications/subscriptions/acknowledged', 'notifications/prompts/list_changed']);
  });

  test('[ERA-9] [DOOR-2] where the agent is gone it ends with what is wrong', async () => {
    const one = await subscribed();
    door.agents.known.delete('token-kimi');
    door.agents.ended('kimi');
    expect((await one.answerTo(id)).error?.message).toMatch(/SALLYPORT_TOKEN/);
  });

  test('[ERA-9] a daemon that is about to stop refuses it for now only', async () => {
    const ack = (): string =>
      `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}\n\n`;
    let turn = 0;
    const daemon = createServer((request, response) => {
      request.resume();
      turn += 1;
      if (turn === 2) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"jsonrpc":"2.0","id":"sub","error":{"code":-32603,"message":"stopping"}}');
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (turn === 1) response.end(ack());
      else response.write(ack());
    });
    await new Promise<void>((resolve) => void daemon.listen(0, '127.0.0.1', resolve));
    const one = bridge({ url: `http://127.0.0.1:${(daemon.address() as AddressInfo).port}/mcp` });
    one.say(statelessBody(id, 'subscriptions/listen', tools));
    await expect
      .poll(() => methods(one), { timeout: 5_000 })
      .toEqual(['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']);
    one.input.end();
    await one.done;
    daemon.close();
  });

  test('[ERA-9] one that breaks off before it is acknowledged is answered with an error', async () => {
    const daemon = await stranger(200, ': nothing\n\n', 'text/event-stream');
    const one = bridge({ url: daemon.url });
    one.say(statelessBody(id, 'subscriptions/listen', tools));
    expect((await one.answerTo(id)).error?.message).toMatch(/before the subscription was acknowledged/);
    daemon.close();
  });

  test('[ERA-9] one that cannot be made is answered with the reason', async () => {
    const one = bridge();
    one.say(statelessBody(id, 'subscriptions/listen', { notifications: 1 }));
    expect(await one.answerTo(id)).toMatchObject({ error: { code: -32602 } });
  });
});

describe('what goes wrong', () => {
  test('[ERA-9] no daemon is told with the command to start it, a wrong token with where to get one', async () => {
    const wrong = bridge(undefined, 'token-wrong');
    wrong.say(statelessBody(1, 'server/discover'));
    expect((await wrong.answerTo(1)).error?.message).toMatch(/SALLYPORT_TOKEN/);
    expect(wrong.raw.join()).not.toContain('token-wrong');
    await door.close();
    const one = bridge();
    one.say(statelessBody(1, 'tools/list'), statelessBody(2, 'subscriptions/listen', tools));
    for (const request of [1, 2]) expect((await one.answerTo(request)).error?.message).toMatch(/sallyport up/);
  });

  test('[ERA-9] a connection lost in the middle of a call says that the outcome is unknown', async () => {
    const one = bridge();
    one.say(statelessBody(1, 'tools/call', { name: 'up__hangs' }));
    await expect.poll(() => door.dispatch.calls.length).toBe(1);
    await door.door.close(0);
    expect((await one.answerTo(1)).error?.message).toMatch(/may have taken effect/);
  });

  test('[ERA-9] an answer of somebody else is no answer', async () => {
    const daemon = await stranger(400, '{"jsonrpc":"2.0","id":"other","error":{"code":-32020,"message":"m"}}');
    const one = bridge({ url: daemon.url });
    one.say(statelessBody(1, 'tools/call', { name: 'n' }), statelessBody(2, 'tools/list'));
    expect(await one.answerTo(1)).toMatchObject({ error: { message: 'm' } });
    expect(await one.answerTo(2)).toMatchObject({ error: { message: 'm' } });
    expect(one.heard).toHaveLength(2);
    daemon.close();
  });
});
